#include <fcntl.h>
#include <io.h>
#include <windows.h>
// After windows.h.
#include <shellapi.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "system.h"

namespace sinew::cli::system {
namespace {

void (*g_handler)(int) = nullptr;

std::string utf8_of(const wchar_t* text) {
    const int size = ::WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    std::string out(static_cast<std::size_t>(size), '\0');
    ::WideCharToMultiByte(CP_UTF8, 0, text, -1, out.data(), size, nullptr, nullptr);
    return out;  // with the zero at its end
}

/// Runs in a thread of its own.
BOOL WINAPI on_event(DWORD event) {
    const bool key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
    g_handler(key ? SIGINT : SIGTERM);
    // Windows ends the process when this returns, so what is the second signal elsewhere comes now.
    if (!key) g_handler(SIGTERM);
    return TRUE;
}

}  // namespace

void start(int& argc, char**& argv) {
    // The narrow arguments are in the code page of the system, which lacks most letters.
    static std::vector<std::string> words;
    static std::vector<char*> pointers;
    int count = 0;
    if (wchar_t** const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count)) {
        for (int k = 0; k < count; ++k) words.push_back(utf8_of(wide[k]));
        ::LocalFree(wide);
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        argc = count;
        argv = pointers.data();
    }
    ::SetConsoleOutputCP(CP_UTF8);
    const HANDLE terminal = ::GetStdHandle(STD_ERROR_HANDLE);
    if (DWORD mode = 0; ::GetConsoleMode(terminal, &mode))
        ::SetConsoleMode(terminal, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    // The same bytes as on other systems: no carriage returns.
    ::_setmode(::_fileno(stdout), _O_BINARY);
    ::_setmode(::_fileno(stderr), _O_BINARY);
}

void handle_signals(void (*handler)(int)) {
    g_handler = handler;
    ::SetConsoleCtrlHandler(on_event, TRUE);
}

void end_after_cancelling() {}

bool has_terminal() {
    DWORD mode = 0;
    return ::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode) && mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING;
}

bool is_writable(const std::filesystem::path& folder) {
    // Access lists are not what the attributes say, so this asks to create a file without creating one.
    const HANDLE handle =
        ::CreateFileW(folder.c_str(), FILE_ADD_FILE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (handle == INVALID_HANDLE_VALUE) return false;
    ::CloseHandle(handle);
    return true;
}

}  // namespace sinew::cli::system
