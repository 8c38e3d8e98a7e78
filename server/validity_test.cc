#include "server/validity.h"

#include <functional>

#include "compiler/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/saxpy_kernel.h"

namespace ingot::server {
namespace {

using ::testing::HasSubstr;

struct Stored {
  std::string key, record, digest, object;
};

Stored Good() {
  const PlanKernel kernel = SaxpyKernel();
  Stored stored;
  stored.key = kernel.key;
  stored.object = SaxpyObject();
  stored.digest = Sha256(stored.object);
  const absl::StatusOr<v1::Record> record =
      MakeRecord(kernel.key, kernel.encoding, stored.digest, stored.object, 5);
  EXPECT_TRUE(record.ok()) << record.status();
  if (record.ok()) stored.record = record->SerializeAsString();
  return stored;
}

absl::Status Check(const Stored& stored) {
  return CheckStored(stored.key, stored.record, stored.digest, stored.object);
}

Stored WithRecord(const std::function<void(v1::Record&)>& change) {
  Stored stored = Good();
  v1::Record record;
  EXPECT_TRUE(record.ParseFromString(stored.record));
  change(record);
  stored.record = record.SerializeAsString();
  return stored;
}

void ExpectDamaged(const Stored& stored, const char* what) {
  const absl::Status status = Check(stored);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(what));
}

TEST(Validity, WhatWasMadeIsValid) {
  const Stored good = Good();
  EXPECT_TRUE(Check(good).ok()) << Check(good);
  v1::Record record;
  ASSERT_TRUE(record.ParseFromString(good.record));
  EXPECT_EQ(record.description().symbol(), "saxpy");
  EXPECT_EQ(record.size(), good.object.size());
  EXPECT_EQ(record.created_unix_ms(), 5);
}

TEST(Validity, AnotherObjectIsNotTheRecords) {
  Stored stored = Good();
  stored.object[stored.object.size() / 2] ^= 1;
  stored.digest = Sha256(stored.object);
  ExpectDamaged(stored, "not the one of the record");
  stored = Good();
  stored.object.push_back('x');
  ExpectDamaged(stored, "not the one of the record");
}

TEST(Validity, AnObjectUnderAnotherKeyIsRefused) {
  Stored stored = Good();
  stored.key = SaxpyKernel(1).key;
  ExpectDamaged(stored, "another key");
  // Also one whose record was made to fit the key by hand.
  const PlanKernel other = SaxpyKernel(1);
  Stored forged =
      WithRecord([&](v1::Record& record) { record.set_key(other.key); });
  forged.key = other.key;
  ExpectDamaged(forged, "another key");
}

TEST(Validity, AnObjectThatBreaksTheContractIsRefused) {
  PlanKernel wide = SaxpyKernel();
  wide.spec.workgroup = {128, 1, 1};
  wide.encoding = EncodeKernelSpec(wide.spec);
  wide.key = KernelKey(wide.encoding);
  const std::string object = SaxpyObject();
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MakeRecord(wide.key, wide.encoding, Sha256(object), object, 0).status()));
  Stored stored = WithRecord([&](v1::Record& record) {
    record.set_key(wide.key);
    record.set_key_encoding(wide.encoding);
  });
  stored.key = wide.key;
  ExpectDamaged(stored, "contract");
}

TEST(Validity, RecordsThatAreNoneAreRefused) {
  Stored stored = Good();
  stored.record = "\x0a\xff";
  ExpectDamaged(stored, "record");
  ExpectDamaged(WithRecord([](v1::Record& r) { r.set_schema(99); }), "schema");
  ExpectDamaged(WithRecord([](v1::Record& r) { r.set_size(1); }), "object");
  ExpectDamaged(WithRecord([](v1::Record& r) { r.set_digest("x"); }), "object");
  EXPECT_TRUE(CheckStoredRecord(Good().key, Good().record).ok());
  EXPECT_TRUE(absl::IsDataLoss(CheckStoredRecord(Good().key, "\x0a\xff")));
}

TEST(Validity, ARecordThatHitsCannotReadIsRefused) {
  Stored group = Good();
  group.record += "\x0b\x0c";  // an empty group, which a parser skips
  ASSERT_TRUE(v1::Record().ParseFromString(group.record));
  ExpectDamaged(group, "two ways");
  Stored tag = Good();
  // A tag of 35 bits, of which a parser drops three: field 15, then 0.
  tag.record += std::string("\xf8\x80\x80\x80\x70\0", 6);
  ASSERT_TRUE(v1::Record().ParseFromString(tag.record));
  ExpectDamaged(tag, "two ways");
}

TEST(Validity, WhatIsNoCodeObjectGetsNoRecord) {
  const PlanKernel kernel = SaxpyKernel();
  const std::string whole = SaxpyObject();
  for (const std::string& object : {std::string(),
                                    std::string("\x7f"
                                                "ELF"),
                                    whole.substr(0, whole.size() / 2)}) {
    EXPECT_FALSE(
        MakeRecord(kernel.key, kernel.encoding, Sha256(object), object, 0)
            .ok());
  }
}

}  // namespace
}  // namespace ingot::server
