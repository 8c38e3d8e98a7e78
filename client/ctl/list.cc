// ingotctl ls: the kernels that are stored.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

#include "client/ctl/command.h"
#include "client/ctl/json.h"
#include "client/ctl/keys.h"
#include "client/ctl/text_table.h"
#include "ingot/v1/admin.pb.h"

namespace ingot::ctl {
namespace {

struct ListFlags {
  std::string op;
  std::string target;
  std::string symbol;
  bool pinned = false;
  std::string sort = "key";
  bool reverse = false;
  size_t limit = 0;
};

using Less =
    std::function<bool(const v1::ListEntry& a, const v1::ListEntry& b)>;

template <typename Field>
Less By(Field (v1::ListEntry::*field)() const) {
  return [field](const v1::ListEntry& a, const v1::ListEntry& b) {
    return (a.*field)() < (b.*field)();
  };
}

const std::map<std::string, Less>& Orders() {
  static const auto* const kOrders = new std::map<std::string, Less>{
      {"key", By(&v1::ListEntry::key)},
      {"op", By(&v1::ListEntry::op)},
      {"size", By(&v1::ListEntry::size)},
      {"vgprs", By(&v1::ListEntry::vgprs)},
      {"lds", By(&v1::ListEntry::lds_bytes)},
      {"made", By(&v1::ListEntry::created_unix_ms)},
      {"symbol", By(&v1::ListEntry::symbol)}};
  return *kOrders;
}

std::vector<std::string> NamesOfOrders() {
  std::vector<std::string> names;
  for (const auto& [name, less] : Orders()) names.push_back(name);
  return names;
}

// What the daemon does not choose itself; its own order is by key.
void Arrange(const ListFlags& flags, v1::ListResponse* all) {
  std::vector<v1::ListEntry> chosen;
  for (v1::ListEntry& entry : *all->mutable_entries()) {
    const bool wanted = (!flags.pinned || entry.pinned()) &&
                        entry.symbol().find(flags.symbol) != std::string::npos;
    if (wanted) chosen.push_back(std::move(entry));
  }
  const Less& less = Orders().at(flags.sort);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const v1::ListEntry& a, const v1::ListEntry& b) {
                     return flags.reverse ? less(b, a) : less(a, b);
                   });
  if (flags.limit != 0 && chosen.size() > flags.limit) {
    chosen.resize(flags.limit);
  }
  *all->mutable_entries() = {chosen.begin(), chosen.end()};
}

Status RunList(const ListFlags& flags, const Globals& globals) {
  std::unique_ptr<Daemon> daemon;
  INGOT_CLIENT_RETURN_IF_ERROR(Daemon::Open(globals, &daemon));
  v1::ListResponse all;
  INGOT_CLIENT_RETURN_IF_ERROR(
      ListAll(daemon.get(), flags.op, flags.target, &all));
  Arrange(flags, &all);
  if (globals.json()) {
    puts(ToJson(all).c_str());
    return Status();
  }
  std::vector<std::vector<std::string>> rows = {{"KEY", "OP", "TARGET", "SIZE",
                                                 "VGPRS", "LDS", "MADE",
                                                 "PINNED", "SYMBOL"}};
  for (const v1::ListEntry& entry : all.entries()) {
    rows.push_back(
        {client::Hex(entry.key()).substr(0, 12), entry.op(), entry.target(),
         FormatBytes(static_cast<double>(entry.size())),
         std::to_string(entry.vgprs()), std::to_string(entry.lds_bytes()),
         FormatTime(entry.created_unix_ms()), entry.pinned() ? "yes" : "no",
         entry.symbol()});
  }
  fputs(FormatTable(rows).c_str(), stdout);
  return Status();
}

}  // namespace

void AddList(const Registry& registry) {
  CLI::App* ls = registry.app->add_subcommand("ls", "list what is stored");
  auto flags = std::make_shared<ListFlags>();
  ls->add_option("--op", flags->op, "only of this op");
  ls->add_option("--target", flags->target, "only for this target");
  ls->add_option("--symbol", flags->symbol,
                 "only those whose symbol has this text in it");
  ls->add_flag("--pinned", flags->pinned, "only those that are pinned");
  ls->add_option("--sort", flags->sort, "least or oldest first, by this column")
      ->check(CLI::IsMember(NamesOfOrders()))
      ->capture_default_str();
  ls->add_flag("--reverse", flags->reverse, "most or newest first");
  ls->add_option("--limit", flags->limit, "at most so many; 0: all")
      ->capture_default_str();
  const Globals* globals = registry.globals;
  Run* run = registry.run;
  ls->callback([=] { *run = [=] { return RunList(*flags, *globals); }; });
}

}  // namespace ingot::ctl
