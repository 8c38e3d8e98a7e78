# ingot_test_altering_server: a daemon as another version would be.
add_library(ingot_test_altering_server STATIC altering_server.cc)
target_link_libraries(ingot_test_altering_server PUBLIC gRPC::grpc++ protobuf::libprotobuf GTest::gtest)
