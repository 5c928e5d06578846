#include "cli/app.hpp"

int main(int argc, char** argv) { return outrider::cli::run(argc, argv); }
