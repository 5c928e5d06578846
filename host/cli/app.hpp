// The program's command line: finds the subcommand, runs it, and turns what came of it into an exit code. One file a subcommand
// (generate.cpp, chat.cpp, …); this one knows only their names.
#pragma once

namespace outrider::cli {

// Parses and runs. Returns the exit code (exit_code.hpp). Nothing is thrown.
int run(int argc, char** argv);

}  // namespace outrider::cli
