# ingot_test_certificates: certificates and signing keys made on the spot.
add_library(ingot_test_certificates STATIC certificates.cc signing_key.cc)
target_link_libraries(ingot_test_certificates PRIVATE OpenSSL::Crypto)
