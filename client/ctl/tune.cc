// ingotctl tune: the daemon's tuning records.
#include <cstdio>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/keys.h"
#include "client/ctl/spec_flags.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct AddFlags {
  SpecFlags spec;
  std::string range;  // m=1..64
  double microseconds = 0;
  std::string device;
};

Status ParseRange(const std::string& text, v1::TuningRange* range) {
  long long min = 0;
  long long max = 0;
  int used = 0;
  const size_t equals = text.find('=');
  const std::string bounds =
      equals == std::string::npos ? "" : text.substr(equals + 1);
  if (sscanf(bounds.c_str(), "%lld..%lld%n", &min, &max, &used) != 2 ||
      static_cast<size_t>(used) != bounds.size()) {
    return Error(INGOT_INVALID_ARGUMENT,
                 "--range: found \"%s\", allowed as m=1..64", text.c_str());
  }
  range->set_dim(text.substr(0, equals));
  range->set_min(min);
  range->set_max(max);
  return Status();
}

std::string TuningText(const v1::TuningRecord& record) {
  std::string text;
  for (const v1::Tuning& tuning : record.tuning()) {
    if (!text.empty()) text += ' ';
    text += tuning.name() + "=" + std::to_string(tuning.value());
  }
  return text;
}

// Finer than times of calls: kernels differ by tenths.
std::string TimeText(double microseconds) {
  char text[32];
  snprintf(text, sizeof(text), "%.4g us", microseconds);
  return text;
}

std::string RangeText(const v1::TuningRecord& record) {
  if (!record.has_range()) return "all";
  const v1::TuningRange& range = record.range();
  return range.dim() + "=" + std::to_string(range.min()) + ".." +
         (range.max() == 0 ? "" : std::to_string(range.max()));
}

Status RunAdd(const AddFlags& flags, const Globals& globals) {
  v1::TuneRequest request;
  INGOT_CLIENT_RETURN_IF_ERROR(MakeSpec(flags.spec, request.mutable_spec()));
  request.mutable_tuning()->Swap(request.mutable_spec()->mutable_tuning());
  if (!flags.range.empty()) {
    INGOT_CLIENT_RETURN_IF_ERROR(
        ParseRange(flags.range, request.mutable_range()));
  }
  request.set_microseconds(flags.microseconds);
  request.set_device(flags.device);
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::TuneResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(daemon->Call("Admin/Tune", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("epoch %llu\n",
           static_cast<unsigned long long>(reply.record().epoch()));
  }
  return Status();
}

struct ListFlags {
  std::string op;
  bool ended = false;
};

Status RunList(const ListFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::ListTuningRequest request;
  request.set_op(flags.op);
  request.set_ended(flags.ended);
  v1::ListTuningResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/ListTuning", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
    return Status();
  }
  printf("epoch %llu, answers are kept from %llu on\n\n",
         static_cast<unsigned long long>(reply.epoch()),
         static_cast<unsigned long long>(reply.oldest_epoch()));
  std::vector<std::vector<std::string>> rows = {{"EPOCH", "OP", "SPEC", "FOR",
                                                 "TUNING", "TIME", "DEVICE",
                                                 "SINCE", "BY", "STATE"}};
  for (const v1::TuningRecord& record : reply.records()) {
    rows.push_back(
        {std::to_string(record.epoch()), record.spec().op(),
         client::Hex(record.spec_digest()).substr(0, 12), RangeText(record),
         TuningText(record), TimeText(record.microseconds()), record.device(),
         FormatTime(record.created_unix_ms()), record.who(),
         record.ended_epoch() == 0 ? "in force"
                                   : record.ended_why() + " in epoch " +
                                         std::to_string(record.ended_epoch())});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  return Status();
}

struct DeleteFlags {
  std::vector<uint64_t> records;
  bool all = false;
};

Status RunDelete(const DeleteFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::DeleteTuningRequest request;
  for (const uint64_t record : flags.records) request.add_records(record);
  request.set_all(flags.all);
  v1::DeleteTuningResponse reply;
  INGOT_CLIENT_RETURN_IF_ERROR(
      daemon->Call("Admin/DeleteTuning", request, &reply));
  if (globals.json()) {
    puts(ToJson(reply).c_str());
  } else {
    printf("deleted %llu, epoch %llu\n",
           static_cast<unsigned long long>(reply.deleted()),
           static_cast<unsigned long long>(reply.epoch()));
  }
  if (reply.deleted() > 0 || flags.all) return Status();
  return Error(INGOT_NOT_FOUND, "none of these records is in force");
}

}  // namespace

void AddTuneCommands(const Registry& registry) {
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  CLI::App* tune = registry.app->add_subcommand(
      "tune", "tuning records: what was measured to be best for a spec");
  tune->require_subcommand(1);

  CLI::App* add =
      tune->add_subcommand("add", "store a measured winner; see candidates");
  auto adding = std::make_shared<AddFlags>();
  adding->spec.Add(add);
  add->add_option("--range", adding->range,
                  "only for these values of a token-like dim, as m=1..64; "
                  "m=65..0 has no end");
  add->add_option("--us", adding->microseconds, "measured microseconds")
      ->required();
  add->add_option("--device", adding->device, "on which device");
  add->callback([=] { *run = [=] { return RunAdd(*adding, *globals); }; });

  CLI::App* list = tune->add_subcommand("ls", "the records in force");
  auto listing = std::make_shared<ListFlags>();
  list->add_option("--op", listing->op, "only of this op");
  list->add_flag("--ended", listing->ended, "also those no longer in force");
  list->callback([=] { *run = [=] { return RunList(*listing, *globals); }; });

  CLI::App* rm = tune->add_subcommand("rm", "end records");
  auto deleting = std::make_shared<DeleteFlags>();
  rm->add_option("records", deleting->records, "by their epochs");
  rm->add_flag("--all", deleting->all, "all of them");
  rm->callback([=] { *run = [=] { return RunDelete(*deleting, *globals); }; });
}

}  // namespace ingot::ctl
