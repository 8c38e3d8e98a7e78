// llvm::LTO refers to Polly's registration, which a build of LLVM with Polly
// puts into its static extensions. Nothing is optimised at link time here.
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "none", [](llvm::PassBuilder&) {},
          nullptr};
}
