// The opcode tables of each family, and the interpreter's loop.
#ifndef TESTS_EMULATOR_INTERP_TABLES_H_
#define TESTS_EMULATOR_INTERP_TABLES_H_

#include "tests/emulator/interp/level.h"
#include "tests/emulator/isa.h"

namespace ingot::emulator::INGOT_EMULATOR_LEVEL {

OpTable Sop1Table();
OpTable Sop2Table();
OpTable SopkTable();
OpTable SopcTable();
OpTable SoppTable();
OpTable SmemTable();
OpTable Vop1Table();
OpTable Vop2Table();
OpTable VopcTable();
OpTable Vop3Table();
OpTable Vop3ConvertTable();  // also of format VOP3
OpTable Vop3ScaleTable();    // likewise
OpTable Vop3pTable();
OpTable MfmaTable();  // also of format VOP3P
OpTable DsTable();
OpTable MubufTable();
OpTable MubufFormatTable();  // also of format MUBUF
OpTable MtbufTable();
OpTable FlatTable();
OpTable GlobalTable();
OpTable ScratchTable();

void RunWave(Wave& wave, int64_t budget);

}  // namespace ingot::emulator::INGOT_EMULATOR_LEVEL

#endif  // TESTS_EMULATOR_INTERP_TABLES_H_
