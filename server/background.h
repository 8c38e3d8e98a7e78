// Processes that give way to whoever answers.
#ifndef INGOT_SERVER_BACKGROUND_H_
#define INGOT_SERVER_BACKGROUND_H_

#include <sys/types.h>

namespace ingot::server {

// Lets `pid`, a child of ours, and what it starts run behind this process and
// the host's own work: a lower weight, and turns so long that whoever wakes
// with shorter ones does not wait for their end. It still gets its share.
void RunInBackground(pid_t pid);

}  // namespace ingot::server

#endif  // INGOT_SERVER_BACKGROUND_H_
