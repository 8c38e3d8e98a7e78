// ingotctl completion, man: the command line described to shells and to man,
// out of the same table that parses it.
#include <algorithm>
#include <cstdio>
#include <sstream>

#include "client/ctl/command.h"

namespace ingot::ctl {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--output" and the like, in order of definition.
std::vector<std::string> Flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back("--" + name);
    }
  }
  return flags;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

std::vector<std::string> Names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : Commands(app)) {
    names.push_back(command->get_name());
  }
  return names;
}

void PrintBash(const CLI::App& app) {
  printf(
      "# bash completion of ingotctl\n"
      "_ingotctl() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command= flags=\"%s\" each\n"
      "  for each in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case $each in\n",
      Join(Flags(app)).c_str());
  for (const CLI::App* command : Commands(app)) {
    printf("      %s) command=%s flags+=\" %s\"; break ;;\n",
           command->get_name().c_str(), command->get_name().c_str(),
           Join(Flags(*command)).c_str());
  }
  printf(
      "    esac\n"
      "  done\n"
      "  case ${COMP_WORDS[COMP_CWORD-1]} in\n"
      "    --output) COMPREPLY=($(compgen -W 'text json' -- \"$word\")); "
      "return "
      ";;\n"
      "    completion) COMPREPLY=($(compgen -W 'bash zsh' -- \"$word\")); "
      "return ;;\n"
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
      "  elif [[ -z $command ]]; then\n"
      "    COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "  fi\n"
      "}\n"
      "complete -o filenames -F _ingotctl ingotctl\n",
      Join(Names(app)).c_str());
}

// In single quotes, without what _describe takes for its own.
std::string ZshWord(const std::string& name, const std::string& text) {
  std::string word = "'" + name + ":";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else if (c == ':') {
      word += "\\:";
    } else {
      word += c == '\n' ? ' ' : c;
    }
  }
  return word + "'";
}

void PrintZshFlags(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      printf("    %s\n",
             ZshWord("--" + name, option->get_description()).c_str());
    }
  }
}

void PrintZsh(const CLI::App& app) {
  printf(
      "#compdef ingotctl\n"
      "# zsh completion of ingotctl\n"
      "_ingotctl() {\n"
      "  local -a commands flags\n"
      "  local each command=\n"
      "  commands=(\n");
  for (const CLI::App* command : Commands(app)) {
    printf("    %s\n",
           ZshWord(command->get_name(), command->get_description()).c_str());
  }
  printf("  )\n  flags=(\n");
  PrintZshFlags(app);
  printf("  )\n  for each in ${words[2,CURRENT-1]}; do\n    case $each in\n");
  for (const CLI::App* command : Commands(app)) {
    printf("    %s) command=%s flags+=(\n", command->get_name().c_str(),
           command->get_name().c_str());
    PrintZshFlags(*command);
    printf("    ); break ;;\n");
  }
  printf(
      "    esac\n  done\n"
      "  if [[ $words[CURRENT] == -* ]]; then\n"
      "    _describe flag flags\n"
      "  elif [[ -z $command ]]; then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _files\n"
      "  fi\n"
      "}\n"
      "_ingotctl \"$@\"\n");
}

// Text for roff: no line may begin with a dot or a quote.
std::string Roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

void PrintManOptions(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    printf(".TP\n\\fB%s\\fR", Roff(option->get_name(false, true)).c_str());
    // "TEXT:{text,json}": the choices say more than the type.
    std::string value = option->get_type_name();
    value = value.substr(value.find(':') + 1);
    if (option->get_expected_max() != 0 && !value.empty()) {
      printf(" \\fI%s\\fR", Roff(value).c_str());
    }
    printf("\n%s\n", Roff(option->get_description()).c_str());
    const std::string initial = option->get_default_str();
    if (!initial.empty()) printf("(default %s)\n", Roff(initial).c_str());
  }
}

void PrintMan(const CLI::App& app) {
  printf(".TH INGOTCTL 1 \"\" \"ingot %s\" \"Ingot\"\n", ingot_version());
  printf(
      ".SH NAME\ningotctl \\- ask a daemon that compiles and keeps GPU "
      "kernels\n"
      ".SH SYNOPSIS\n.B ingotctl\n[\\fIoption\\fR]... \\fIcommand\\fR "
      "[\\fIargument\\fR]...\n.SH DESCRIPTION\n%s\n.SH OPTIONS\n",
      Roff(app.get_description()).c_str());
  PrintManOptions(app);
  printf(".SH COMMANDS\n");
  for (const CLI::App* command : Commands(app)) {
    printf(".SS %s\n%s\n", Roff(command->get_name()).c_str(),
           Roff(command->get_description()).c_str());
    PrintManOptions(*command);
  }
  printf(".SH EXIT STATUS\n.nf\n");
  std::istringstream footer(app.get_footer());
  for (std::string line; std::getline(footer, line);) {
    if (line.rfind("Exit codes", 0) != 0) printf("%s\n", Roff(line).c_str());
  }
  printf(
      ".fi\n.SH ENVIRONMENT\n.TP\n\\fBINGOT_ADDRESS\\fR\nwhere the daemon "
      "listens, as \\-\\-address\n.TP\n\\fBINGOT_HIP_LIBRARY\\fR\nthe HIP "
      "runtime, for check and doctor\n");
}

Status RunCompletion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") {
    PrintBash(app);
  } else {
    PrintZsh(app);
  }
  return Status();
}

}  // namespace

void AddSelfDescription(const Registry& registry) {
  const CLI::App* all = registry.app;
  Run* run = registry.run;
  CLI::App* completion = registry.app->add_subcommand(
      "completion", "print what a shell completes this command by");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback(
      [=] { *run = [=] { return RunCompletion(*all, *shell); }; });
  registry.app->add_subcommand("man", "print the manual page")->callback([=] {
    *run = [=] {
      PrintMan(*all);
      return Status();
    };
  });
}

}  // namespace ingot::ctl
