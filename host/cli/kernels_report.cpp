#include "cli/kernels_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace outrider::cli {
namespace {

struct Figure {
  double value = 0, limit = 0;
  [[nodiscard]] double share() const { return value / limit; }
  [[nodiscard]] Json json() const { return {{"tokens_per_second", value}, {"limit_tokens_per_second", limit}, {"share", share()}}; }
};

// A pass of M rows: its time, the least it can take, and both as multiples of a pass of one row.
struct PassFigure {
  double seconds = 0, least = 0, cost = 0, least_cost = 0;
  [[nodiscard]] double share() const { return least / seconds; }
};
using PassFigures = std::map<int32_t, PassFigure>;  // by rows

// Every figure of one subject; limits are of our layout of the weights, so a peer's are not used.
struct Figures {
  Figure decode;
  std::map<int32_t, Figure> prefill;
  std::map<int32_t, PassFigures> passes;
};

Figures figures_of(const KernelsResult& result, const Samples& samples, const model::Transformer& target, kernels::KvType kv_type) {
  Figures figures;
  figures.decode = {result.decode_tokens / median(samples.decode), result.decode_tokens / least_decode_seconds(result, target, kv_type)};
  for (const auto& [tokens, seconds] : samples.prefill) {
    figures.prefill[tokens] = {tokens / median(seconds), tokens / least_prefill_seconds(result, target, kv_type, tokens)};
  }
  for (const auto& [context, by_rows] : samples.passes) {
    PassFigures& passes = figures.passes[context];
    for (const auto& [rows, seconds] : by_rows) {
      const double least = least_seconds(PassWork::of(target, kv_type, rows, context, rows), result.peaks);
      passes[rows] = {median(seconds), least, 0, 0};
    }
    const PassFigure one = passes.at(1);
    for (auto& [rows, figure] : passes) figure.cost = figure.seconds / one.seconds, figure.least_cost = figure.least / one.least;
  }
  return figures;
}

Json costs(const PassFigures& passes, double PassFigure::*cost) {
  Json curve = Json::object();
  for (const auto& [rows, figure] : passes) curve[std::to_string(rows)] = figure.*cost;
  return curve;
}

Json milliseconds(const PassFigures& passes, double PassFigure::*seconds) {
  Json curve = Json::object();
  for (const auto& [rows, figure] : passes) curve[std::to_string(rows)] = figure.*seconds * 1e3;
  return curve;
}

Json peer_json(const KernelsResult& result, const Figures& peer) {
  Json prefill = Json::array();
  for (const auto& [tokens, figure] : peer.prefill) prefill.push_back({{"tokens", tokens}, {"tokens_per_second", figure.value}});
  const auto& [context, passes] = *peer.passes.begin();
  return {{"name", "llama.cpp"},
          {"package_version", result.peer_version},
          {"decode_tokens_per_second", peer.decode.value},
          {"prefill_tokens_per_second", peer.prefill.at(result.prefill_tokens).value},
          {"prefill", std::move(prefill)},
          {"cost_curve", costs(passes, &PassFigure::cost)},
          {"passes", {{{"context", context}, {"milliseconds", milliseconds(passes, &PassFigure::seconds)}}}}};
}

Json rates_json(const Peaks& peaks) {
  return {{"read_bandwidth_gb_s", peaks.read_bytes / 1e9},
          {"int8_giga_multiply_adds_per_second", peaks.int8_multiply_adds / 1e9},
          {"f32_giga_multiply_adds_per_second", peaks.f32_multiply_adds / 1e9}};
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double least_decode_seconds(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type) {
  double seconds = 0;
  for (int32_t i = 0; i < result.decode_tokens; ++i) {
    seconds += least_seconds(PassWork::of(target, kv_type, 1, result.decode_context + i, 1), result.peaks);
  }
  return seconds;
}

double least_prefill_seconds(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type, int32_t tokens) {
  double seconds = 0;
  for (int32_t begin = 0; begin < tokens; begin += result.prefill_chunk) {
    const int32_t rows = std::min(result.prefill_chunk, tokens - begin);
    seconds += least_seconds(PassWork::of(target, kv_type, rows, begin, begin + rows == tokens ? 1 : 0), result.peaks);
  }
  return seconds;
}

std::string kernels_text(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type) {
  const Figures own = figures_of(result, result.own, target, kv_type);
  std::optional<Figures> peer;
  if (result.peer) peer = figures_of(result, *result.peer, target, kv_type);
  const PassWork token = PassWork::of(target, kv_type, 1, result.decode_context, 1);

  std::string text = fmt::format("{}\n{}: a token reads {:.1f} MB and makes {:.1f} million multiply-adds\n", result.machine, result.model,
                                 token.bytes / 1e6, (token.int8_multiply_adds + token.f32_multiply_adds) / 1e6);
  const auto rates = [](const Peaks& p) {
    return fmt::format("{:.2f} GB/s read, {:.1f} G int8 and {:.1f} G f32 multiply-adds/s", p.read_bytes / 1e9, p.int8_multiply_adds / 1e9,
                       p.f32_multiply_adds / 1e9);
  };
  text += fmt::format("peaks: {}\nbest of all rounds: {}\n\n", rates(result.peaks), rates(result.best));

  text += fmt::format("{:20}{:>9}{:>9}{:>7}", "tokens/s", "measured", "limit", "share") +
          (peer ? fmt::format("{:>14}{:>8}\n", "llama.cpp", "ratio") : "\n");
  const auto line = [&](const std::string& name, const Figure& figure, const Figure* other) {
    text += fmt::format("{:20}{:>9.1f}{:>9.1f}{:>6.0f}%", name, figure.value, figure.limit, 100 * figure.share()) +
            (other != nullptr ? fmt::format("{:>14.1f}{:>7.2f}x\n", other->value, figure.value / other->value) : "\n");
  };
  line(fmt::format("decode {}", result.decode_tokens), own.decode, peer ? &peer->decode : nullptr);
  for (const auto& [tokens, figure] : own.prefill)
    line(fmt::format("prefill {}", tokens), figure, peer ? &peer->prefill.at(tokens) : nullptr);

  text += fmt::format("\n{:4}", "");
  for (const auto& entry : own.passes) text += fmt::format("   {:<34}", fmt::format("after {} positions", entry.first));
  if (peer) text += fmt::format("   {}", fmt::format("llama.cpp, after {}", peer->passes.begin()->first));
  text += "\nrows";
  for (size_t i = 0; i < own.passes.size(); ++i) text += fmt::format("{:>9}{:>8}{:>6}{:>7}{:>7}", "ms", "limit", "share", "t(M)", "limit");
  if (peer) text += fmt::format("{:>9}{:>7}", "ms", "t(M)");
  text += "\n";
  for (const auto& row : own.passes.begin()->second) {
    text += fmt::format("{:>4}", row.first);
    for (const auto& [context, passes] : own.passes) {
      const PassFigure& figure = passes.at(row.first);
      text += fmt::format("{:>9.2f}{:>8.2f}{:>5.0f}%{:>7.2f}{:>7.2f}", figure.seconds * 1e3, figure.least * 1e3, 100 * figure.share(),
                          figure.cost, figure.least_cost);
    }
    if (peer) {
      const PassFigure& figure = peer->passes.begin()->second.at(row.first);
      text += fmt::format("{:>9.2f}{:>7.2f}", figure.seconds * 1e3, figure.cost);
    }
    text += "\n";
  }
  return text;
}

Json kernels_json(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type) {
  const Figures own = figures_of(result, result.own, target, kv_type);
  const PassWork weights = PassWork::of(target, kv_type, 1, 0, 1);
  const PassWork middle = PassWork::of(target, kv_type, 1, result.decode_context + (result.decode_tokens - 1) / 2, 1);
  Json prefill = Json::array(), passes = Json::array();
  for (const auto& [tokens, figure] : own.prefill) {
    Json entry = {{"tokens", tokens}};
    entry.update(figure.json());
    prefill.push_back(std::move(entry));
  }
  for (const auto& [context, by_rows] : own.passes) {
    Json share = Json::object();
    for (const auto& [rows, figure] : by_rows) share[std::to_string(rows)] = figure.share();
    passes.push_back({{"context", context},
                      {"milliseconds", milliseconds(by_rows, &PassFigure::seconds)},
                      {"limit_milliseconds", milliseconds(by_rows, &PassFigure::least)},
                      {"share", std::move(share)},
                      {"cost_curve", costs(by_rows, &PassFigure::cost)},
                      {"limit_cost_curve", costs(by_rows, &PassFigure::least_cost)}});
  }
  Json decode = {{"tokens", result.decode_tokens}, {"context", result.decode_context}};
  decode.update(own.decode.json());
  Json json = {
      {"machine", result.machine},
      {"model", result.model},
      {"isa", kernels::isa_name(target.isa())},
      {"threads", target.pool().size()},
      {"read_bandwidth_gb_s", result.peaks.read_bytes / 1e9},
      {"decode_tokens_per_second", own.decode.value},
      {"prefill_tokens_per_second", own.prefill.at(result.prefill_tokens).value},
      {"bandwidth_share", middle.bytes * own.decode.value / result.peaks.read_bytes},
      {"cost_curve", costs(own.passes.begin()->second, &PassFigure::cost)},
      {"peaks", rates_json(result.peaks)},
      {"best_peaks", rates_json(result.best)},
      {"weights",
       {{"bytes", target.weights().bytes_per_step()}, {"multiply_adds", weights.int8_multiply_adds + weights.f32_multiply_adds}}},
      {"decode", std::move(decode)},
      {"prefill", std::move(prefill)},
      {"passes", std::move(passes)},
      {"peer", nullptr},
  };
  if (result.peer) json["peer"] = peer_json(result, figures_of(result, *result.peer, target, kv_type));
  if (!result.peer_error.empty()) json["peer"] = {{"name", "llama.cpp"}, {"error", result.peer_error}};
  return json;
}

}  // namespace outrider::cli
