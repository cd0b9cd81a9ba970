// taskflow: a graph of layers, run several times, and a parallel loop. Argument: how often.
#include <taskflow/taskflow.hpp>
#include <taskflow/algorithm/for_each.hpp>
#include <atomic>
#include <cstdlib>
#include <vector>

int main(int count, char **words) {
  if (count != 2) return 2;
  constexpr int kLayers = 16, kWidth = 16, kItems = 1024;
  long rounds = std::atol(words[1]);
  tf::Executor executor(4);
  tf::Taskflow flow;
  std::vector<long> values(kLayers * kWidth, 0), items(kItems, 0);
  std::vector<tf::Task> before, layer;
  for (int depth = 0; depth < kLayers; depth++) {
    for (int place = 0; place < kWidth; place++) {
      long *value = &values[depth * kWidth + place];
      tf::Task task = flow.emplace([value] { *value += 1; });
      if (depth > 0) task.succeed(before[place], before[(place + 1) % kWidth]);
      layer.push_back(task);
    }
    before = std::move(layer);
    layer.clear();
  }
  tf::Task loop = flow.for_each_index(0, kItems, 1, [&](int item) { items[item] += item; });
  for (tf::Task &task : before) loop.succeed(task);
  executor.run_n(flow, static_cast<std::size_t>(rounds)).wait();
  bool complete = true;
  for (long value : values) complete = complete && value == rounds;
  for (int item = 0; item < kItems; item++) complete = complete && items[item] == item * rounds;
  return complete ? 0 : 1;
}
