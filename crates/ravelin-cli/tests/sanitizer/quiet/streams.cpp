// Strings, string streams and standard streams in threads.
// case c: none
// std: c++17
#include <cstdlib>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

int main() {
  const std::string shared(1000, 'x');
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&shared, i] {
      for (int j = 0; j < 20; j++) {
        std::string copy = shared;
        std::stringstream stream;
        stream << copy << ' ' << i << ' ' << j * 0.5 << '\n';
        std::string word;
        int number;
        stream >> word >> number;
        if (word != shared || number != i) std::abort();
        std::cerr << "";
        std::cout << i << j << std::endl;
      }
    });
  for (auto &thread : threads) thread.join();
}
