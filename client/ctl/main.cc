// ingotctl: shows what RPCs return.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "client/ctl/command.h"
#include "google/protobuf/stubs/common.h"

namespace {

constexpr double kMaxSeconds = 1e6;

constexpr char kFooter[] =
    "Exit codes:\n"
    "  0  success\n"
    "  1  the request failed, or anything not named below\n"
    "  2  bad flags, or a spec that is malformed or not known to the daemon\n"
    "  3  no daemon answers\n"
    "  4  the time budget (--timeout) ran out\n"
    "  5  no such kernel, or no such file\n"
    "  6  check: numbers disagree; verify: damaged objects were found;\n"
    "     import: entries were refused; repro: the kernel still fails;\n"
    "     warm, warm-from: specs were refused; coverage: less than "
    "--at-least\n";

// CLI11's own check prints its bounds with all their 300 digits.
std::string CheckSeconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && seconds > 0 && seconds <= kMaxSeconds) {
    return "";
  }
  return "found " + text + ", allowed more than 0 and at most 1000000 seconds";
}

// What CLI11 says of an unknown command is that one is missing.
int RefuseFlags(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty() && app.get_subcommands().empty()) {
    fprintf(stderr, "ingotctl: command: found \"%s\", allowed",
            unknown[0].c_str());
    for (const CLI::App* command : app.get_subcommands({})) {
      fprintf(stderr, " %s", command->get_name().c_str());
    }
    fputs("\n", stderr);
    return ingot::ctl::kExitUsage;
  }
  return app.exit(error) == 0 ? ingot::ctl::kExitOk : ingot::ctl::kExitUsage;
}

int Fail(const ingot::client::Status& status) {
  fprintf(stderr, "ingotctl: %s: %s\n", ingot_status_name(status.code),
          status.message.c_str());
  return ingot::ctl::ExitCodeOf(status);
}

}  // namespace

int main(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);  // errors are told once
  CLI::App app("Talks to ingotd, which compiles and keeps GPU kernels.",
               "ingotctl");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", ingot_version());
  app.fallthrough();

  ingot::ctl::Globals globals;
  app.add_option("--address", globals.address,
                 "unix:/path, unix-abstract:name, host:port or "
                 "https://host:port; else "
                 "INGOT_ADDRESS, else the socket of an ingotd without options");
  const auto file = [&app](const char* flag, std::string* value,
                           const char* help) {
    app.add_option(flag, *value, help)->group("TLS");
  };
  file("--tls-ca", &globals.tls.ca,
       "PEM file of those who sign certificates of daemons; with it, and for "
       "https://host:port, TCP is spoken through TLS; else INGOT_TLS_CA");
  file("--tls-certificate", &globals.tls.certificate,
       "PEM file of your certificate; else INGOT_TLS_CERTIFICATE");
  file("--tls-private-key", &globals.tls.private_key,
       "PEM file of its key; else INGOT_TLS_PRIVATE_KEY");
  file("--tls-server-name", &globals.tls.server_name,
       "what the daemon's certificate must name, if not the host; else "
       "INGOT_TLS_SERVER_NAME");
  app.add_option("--output", globals.output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--timeout", globals.timeout_s, "seconds for one call")
      ->check(CheckSeconds)
      ->capture_default_str();

  int exit_code = ingot::ctl::kExitOk;
  ingot::ctl::Run run;
  const ingot::ctl::Registry registry = {&app, &globals, &exit_code, &run};
  ingot::ctl::AddGet(registry);
  ingot::ctl::AddList(registry);
  ingot::ctl::AddObjectCommands(registry);
  ingot::ctl::AddDaemonCommands(registry);
  ingot::ctl::AddCheck(registry);
  ingot::ctl::AddKeygen(registry);
  ingot::ctl::AddExport(registry);
  ingot::ctl::AddImport(registry);
  ingot::ctl::AddDisableCommands(registry);
  ingot::ctl::AddWarm(registry);
  ingot::ctl::AddDoctor(registry);
  ingot::ctl::AddSelfDescription(registry);
  ingot::ctl::AddTuneCommands(registry);
  ingot::ctl::AddExplainCommands(registry);
  ingot::ctl::AddTop(registry);
  ingot::ctl::AddRepro(registry);
  ingot::ctl::AddWarmFrom(registry);
  ingot::ctl::AddRecord(registry);
  ingot::ctl::AddCoverage(registry);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return RefuseFlags(app, error);
  }
  const ingot::client::Status status = run();
  return status.ok() ? exit_code : Fail(status);
}
