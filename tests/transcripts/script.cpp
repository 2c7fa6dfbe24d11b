// SPDX-License-Identifier: MIT
#include "script.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace transcripts {
namespace {

[[noreturn]] void refuse(const std::string& place, const std::string& what) {
  throw std::runtime_error(place + ": " + what);
}

void put(const std::string& word, Fields& fields, std::vector<std::string>& words) {
  const auto equals = word.find('=');
  if (equals == std::string::npos) {
    words.push_back(word);
  } else {
    fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
}

Step read_step(const std::string& place, std::istringstream& words, const std::string& first) {
  Step step;
  if (first != "-") step.line = std::stoi(first);
  if (!(words >> step.process >> step.op)) refuse(place, "a step needs a process and an operation");
  std::string word;
  while (words >> word && word != "->") put(word, step.in, step.words);
  step.answered = word == "->";
  while (words >> word) put(word, step.out, step.expected);
  if (step.answered && step.expected.empty()) refuse(place, "no result behind ->");
  return step;
}

void read_line(const std::string& place, const std::string& text, Script& script) {
  std::istringstream words(text);
  std::string first, word;
  if (!(words >> first) || first.front() == '#') return;
  if (first == "transcript") {
    if (!(words >> word >> script.name) || word != "1") refuse(place, "unknown version");
  } else if (first == "device") {
    while (words >> word) {
      const auto equals = word.find('=');
      if (equals == std::string::npos) refuse(place, "a parameter without a value");
      script.device[word.substr(0, equals)] = std::stoull(word.substr(equals + 1));
    }
  } else if (first == "after") {
    words >> script.after;
  } else if (first == "recording") {
    words >> script.recording;
  } else if (first == "text") {
    unsigned count = 0;
    words >> count >> word;
    script.text[word] = count;
  } else {
    script.steps.push_back(read_step(place, words, first));
  }
}

}  // namespace

const std::string& Step::word(std::size_t index) const {
  if (index >= words.size()) throw std::runtime_error(op + ": a word is missing");
  return words[index];
}

const std::string* Step::input(const std::string& name) const {
  for (const auto& [key, value] : in) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::uint64_t Step::number(std::size_t index) const {
  return std::stoull(word(index), nullptr, 0);
}

Script read_script(const std::string& path) {
  std::ifstream input(path);
  if (!input) refuse(path, "cannot be opened");
  Script script;
  std::string text;
  for (int number = 1; std::getline(input, text); ++number) {
    const std::string place = path + ":" + std::to_string(number);
    try {
      read_line(place, text, script);
    } catch (const std::logic_error&) {  // of stoi and its like
      refuse(place, "not a number");
    }
  }
  if (script.name.empty()) refuse(path, "not a transcript");
  if (script.recording.empty()) script.recording = script.name;
  return script;
}

}  // namespace transcripts
