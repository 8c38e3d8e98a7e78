#ingot_test_certificates : certificates made on the spot.
add_library(ingot_test_certificates STATIC certificates.cc)
    target_link_libraries(ingot_test_certificates PRIVATE OpenSSL::Crypto)
