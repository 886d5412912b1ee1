// The classes of CANN's graph engine that MindSpore's Ascend plugin uses while it selects kernels.
//
// MindSpore describes every kernel of the aclop kind as a ge::Operator: it looks the operator's
// prototype up, registers inputs, outputs and attributes, and reads attributes back. These classes
// hold those values and do nothing else: no graph is built, nothing is computed. The layouts are
// the ones that the plugin was compiled against: each class is a shared pointer to its values.
//
// A prototype named Cust* is a kernel that CANN runs on the AI CPU instead of the AI Core. Each one
// is announced on stderr: MindSpore's own log does not name them.
//
// Built with the old C++ ABI of strings, as MindSpore's wheels are; see `python -m
// migrate.preflight.stubs.compile`.

#include <any>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST "unknown"
#endif

// Tells a library that was built from other sources.
extern "C" const char ms_migrate_source_digest[] = "ms-migrate-source:" SOURCE_DIGEST;

// Two symbols that recent C libraries provide and older ones lack: defined here, so that the
// library loads wherever MindSpore's own does.
extern "C" {
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
}
namespace std {
void __throw_bad_array_new_length() { abort(); }
}  // namespace std

namespace {

constexpr uint32_t kSuccess = 0;
constexpr uint32_t kFailed = 1;

void announce_ai_cpu(const std::string &type) {
  if (type.rfind("Cust", 0) != 0) return;
  const std::string line = "[ms-migrate] ai_cpu " + type.substr(4) + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

namespace ge {

enum DataType : int {};
enum Format : int {};

using Integers = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
using DataTypes = std::vector<DataType>;

// ---- strings and error texts

class AscendString {
 public:
  AscendString(const char *text);
  const char *GetString() const;

 private:
  std::shared_ptr<std::string> text_;
};

AscendString::AscendString(const char *text) {
  if (text != nullptr) text_ = std::make_shared<std::string>(text);
}
const char *AscendString::GetString() const { return text_ ? text_->c_str() : ""; }

class StatusFactory {
 public:
  static StatusFactory *Instance();

 private:
  std::map<uint32_t, std::string> descriptions_;
  char reserved_[256] = {};
};

StatusFactory *StatusFactory::Instance() {
  static StatusFactory *instance = new StatusFactory();
  return instance;
}

// ---- shapes and tensors

class Shape {
 public:
  Shape();
  explicit Shape(const Integers &dims);
  uint32_t SetDim(size_t index, int64_t value);
  int64_t GetDim(size_t index) const;
  Integers GetDims() const;
  size_t GetDimNum() const;

 private:
  std::shared_ptr<Integers> dims_;
};

Shape::Shape() : dims_(std::make_shared<Integers>()) {}
Shape::Shape(const Integers &dims) : dims_(std::make_shared<Integers>(dims)) {}
uint32_t Shape::SetDim(size_t index, int64_t value) {
  if (index >= dims_->size()) return kFailed;
  (*dims_)[index] = value;
  return kSuccess;
}
int64_t Shape::GetDim(size_t index) const { return index < dims_->size() ? (*dims_)[index] : 0; }
Integers Shape::GetDims() const { return *dims_; }
size_t Shape::GetDimNum() const { return dims_->size(); }

struct Description {
  Shape shape;
  Shape origin_shape;
  Format format{};
  Format origin_format{};
  DataType type{};
  int64_t real_dim_count = 0;
};

class TensorDesc {
 public:
  TensorDesc();
  TensorDesc(Shape shape, Format format, DataType type);
  TensorDesc(const TensorDesc &other);
  TensorDesc(TensorDesc &&other);
  void SetDataType(DataType type);
  void SetRealDimCnt(int64_t count);
  void SetOriginShape(const Shape &shape);
  void SetOriginFormat(Format format);
  void SetShape(const Shape &shape);
  void SetFormat(Format format);
  DataType GetDataType() const;
  Shape GetShape() const;
  Format GetFormat() const;

 private:
  std::shared_ptr<Description> values_;
};

TensorDesc::TensorDesc() : values_(std::make_shared<Description>()) {}
TensorDesc::TensorDesc(Shape shape, Format format, DataType type) : TensorDesc() {
  values_->shape = shape;
  values_->format = format;
  values_->type = type;
}
TensorDesc::TensorDesc(const TensorDesc &other)
    : values_(std::make_shared<Description>(*other.values_)) {}
TensorDesc::TensorDesc(TensorDesc &&other) : values_(other.values_) {}
void TensorDesc::SetDataType(DataType type) { values_->type = type; }
void TensorDesc::SetRealDimCnt(int64_t count) { values_->real_dim_count = count; }
void TensorDesc::SetOriginShape(const Shape &shape) { values_->origin_shape = shape; }
void TensorDesc::SetOriginFormat(Format format) { values_->origin_format = format; }
void TensorDesc::SetShape(const Shape &shape) { values_->shape = shape; }
void TensorDesc::SetFormat(Format format) { values_->format = format; }
DataType TensorDesc::GetDataType() const { return values_->type; }
Shape TensorDesc::GetShape() const { return values_->shape; }
Format TensorDesc::GetFormat() const { return values_->format; }

struct Content {
  TensorDesc description;
  std::vector<uint8_t> bytes;
};

class Tensor {
 public:
  Tensor();
  Tensor(const TensorDesc &description);
  Tensor(const TensorDesc &description, const uint8_t *data, size_t size);
  uint32_t SetData(const uint8_t *data, size_t size);
  uint8_t *GetData();
  TensorDesc GetTensorDesc() const;
  size_t GetSize() const;

 private:
  std::shared_ptr<Content> content_;
};

Tensor::Tensor() : content_(std::make_shared<Content>()) {}
Tensor::Tensor(const TensorDesc &description) : content_(new Content{description, {}}) {}
Tensor::Tensor(const TensorDesc &description, const uint8_t *data, size_t size)
    : Tensor(description) {
  SetData(data, size);
}
uint32_t Tensor::SetData(const uint8_t *data, size_t size) {
  content_->bytes.assign(data, data + size);
  return kSuccess;
}
uint8_t *Tensor::GetData() { return content_->bytes.data(); }
TensorDesc Tensor::GetTensorDesc() const { return content_->description; }
size_t Tensor::GetSize() const { return content_->bytes.size(); }

// ---- the types that a prototype accepts: declared, never asked for

class TensorType {
 public:
  explicit TensorType(DataType type);
  TensorType(const std::initializer_list<DataType> &types);

 private:
  std::shared_ptr<DataTypes> types_;
};

TensorType::TensorType(DataType type) : types_(std::make_shared<DataTypes>(1, type)) {}
TensorType::TensorType(const std::initializer_list<DataType> &types)
    : types_(std::make_shared<DataTypes>(types)) {}

class Promote {
 public:
  Promote(const std::initializer_list<const char *> &names);
  Promote(Promote &&other);

 private:
  std::shared_ptr<Strings> names_;
};

Promote::Promote(const std::initializer_list<const char *> &names)
    : names_(std::make_shared<Strings>(names.begin(), names.end())) {}
Promote::Promote(Promote &&other) : names_(other.names_) {}

// ---- operators: a name, a type and attributes

struct Attributes {
  std::string name;
  std::string type;
  std::map<std::string, std::any> values;
};

// SETTERS and GETTERS are the overloads that the plugin links against, by kind of key and value.
#define TEXT_KEY_SETTERS(X)                                                                     \
  X(const Tensor &) X(const DataType &) X(const DataTypes &) X(const std::vector<Integers> &)   \
  X(const Floats &) X(const Integers &) X(bool) X(float) X(int64_t)                             \
  X(const std::vector<int32_t> &) X(int32_t)
#define STRING_KEY_SETTERS(X)                                                                   \
  X(const Strings &) X(const std::vector<bool> &) X(const Floats &) X(const Integers &)         \
  X(const std::string &) X(bool) X(float) X(int64_t) X(const std::vector<int32_t> &) X(int32_t)
#define TEXT_KEY_GETTERS(X)                                                                     \
  X(Tensor) X(DataType) X(DataTypes) X(std::vector<Integers>) X(Floats) X(Integers) X(bool)     \
  X(float) X(int64_t)
#define REGISTERED(X)                                                                           \
  X(const DataType &) X(const Floats &) X(const Integers &) X(bool) X(float) X(int64_t)

class Operator {
 public:
  Operator() = default;
  Operator(const char *type);
  Operator(const char *name, const char *type);
  Operator(const std::string &type);
  Operator(const std::string &name, const std::string &type);
  Operator(const AscendString &name, const AscendString &type);
  virtual ~Operator();

#define DECLARE(T) void AttrRegister(const char *key, T value);
  REGISTERED(DECLARE)
#undef DECLARE
  void AttrRegister(const char *key, const AscendString &value);
  void AttrRegister(const char *key, const std::vector<AscendString> &values);
  void RequiredAttrWithTypeRegister(const char *key, const char *type);

#define DECLARE(T) Operator &SetAttr(const char *key, T value);
  TEXT_KEY_SETTERS(DECLARE)
#undef DECLARE
#define DECLARE(T) Operator &SetAttr(const std::string &key, T value);
  STRING_KEY_SETTERS(DECLARE)
#undef DECLARE
#define DECLARE(T) uint32_t GetAttr(const char *key, T &value) const;
  TEXT_KEY_GETTERS(DECLARE)
#undef DECLARE
  uint32_t GetAttr(const char *key, int32_t &value) const;
  uint32_t GetAttr(const char *key, std::vector<int32_t> &value) const;
  uint32_t GetAttr(const std::string &key, std::string &value) const;
  uint32_t GetAttr(const std::string &key, Strings &value) const;

  void InputRegister(const char *name, const char *types);
  void OptionalInputRegister(const char *name, const char *types);
  void OutputRegister(const char *name, const char *types);
  void DynamicInputRegister(const char *name, uint32_t count, const char *types, bool push_back);
  void DynamicOutputRegister(const char *name, uint32_t count, const char *types, bool push_back);
  void DataTypeRegister(const char *name, const TensorType &type);
  void DataTypeRegister(const char *name, const Promote &type);

  uint32_t GetName(AscendString &name) const;
  std::string GetName() const;
  uint32_t GetOpType(AscendString &type) const;
  std::string GetOpType() const;

  uint32_t UpdateInputDesc(const char *name, const TensorDesc &description);
  uint32_t UpdateInputDesc(const std::string &name, const TensorDesc &description);
  uint32_t UpdateOutputDesc(const char *name, const TensorDesc &description);
  uint32_t UpdateOutputDesc(const std::string &name, const TensorDesc &description);
  Operator &SetInput(const char *name, const Operator &source);
  Operator &SetInput(const char *name, uint32_t index, const Operator &source);
  Operator &SetInput(const char *name, uint32_t index, const Operator &source, const char *output);
  Operator &SetInput(const std::string &name, const Operator &source);
  int GetDynamicOutputNum(const std::string &name) const;

 private:
  template <class Value>
  uint32_t Read(const std::string &key, Value *value) const {
    const auto found = attributes_->values.find(key);
    if (found == attributes_->values.end()) return kFailed;
    const auto *held = std::any_cast<Value>(&found->second);
    if (held == nullptr) return kFailed;
    *value = *held;
    return kSuccess;
  }
  template <class Value>
  void Write(const std::string &key, const Value &value) {
    attributes_->values[key] = value;
  }
  // Integers are read back as 64 bits, however they were set.
  void Write(const std::string &key, int32_t value) {
    attributes_->values[key] = static_cast<int64_t>(value);
  }
  void Write(const std::string &key, const std::vector<int32_t> &values) {
    attributes_->values[key] = Integers(values.begin(), values.end());
  }

  std::shared_ptr<Attributes> attributes_;
};

Operator::Operator(const std::string &name, const std::string &type)
    : attributes_(new Attributes{name, type, {}}) {
  announce_ai_cpu(type);
}
Operator::Operator(const std::string &type) : Operator(std::string(), type) {}
Operator::Operator(const char *type) : Operator(std::string(), std::string(type)) {}
Operator::Operator(const char *name, const char *type)
    : Operator(std::string(name), std::string(type)) {}
Operator::Operator(const AscendString &name, const AscendString &type)
    : Operator(std::string(name.GetString()), std::string(type.GetString())) {}
Operator::~Operator() {}

#define DEFINE(T) \
  void Operator::AttrRegister(const char *key, T value) { Write(key, value); }
REGISTERED(DEFINE)
#undef DEFINE
void Operator::AttrRegister(const char *key, const AscendString &value) {
  Write(key, std::string(value.GetString()));
}
void Operator::AttrRegister(const char *key, const std::vector<AscendString> &values) {
  Strings texts;
  for (const auto &value : values) texts.emplace_back(value.GetString());
  Write(key, texts);
}
void Operator::RequiredAttrWithTypeRegister(const char *, const char *) {}

#define DEFINE(T)                                            \
  Operator &Operator::SetAttr(const char *key, T value) {    \
    Write(key, value);                                       \
    return *this;                                            \
  }
TEXT_KEY_SETTERS(DEFINE)
#undef DEFINE
#define DEFINE(T)                                                 \
  Operator &Operator::SetAttr(const std::string &key, T value) {  \
    Write(key, value);                                            \
    return *this;                                                 \
  }
STRING_KEY_SETTERS(DEFINE)
#undef DEFINE

#define DEFINE(T) \
  uint32_t Operator::GetAttr(const char *key, T &value) const { return Read(key, &value); }
TEXT_KEY_GETTERS(DEFINE)
#undef DEFINE
uint32_t Operator::GetAttr(const std::string &key, std::string &value) const {
  return Read(key, &value);
}
uint32_t Operator::GetAttr(const std::string &key, Strings &value) const {
  return Read(key, &value);
}
uint32_t Operator::GetAttr(const char *key, int32_t &value) const {
  int64_t wide = 0;
  const uint32_t status = Read(key, &wide);
  if (status == kSuccess) value = static_cast<int32_t>(wide);
  return status;
}
uint32_t Operator::GetAttr(const char *key, std::vector<int32_t> &value) const {
  Integers wide;
  const uint32_t status = Read(key, &wide);
  if (status == kSuccess) value.assign(wide.begin(), wide.end());
  return status;
}

void Operator::InputRegister(const char *, const char *) {}
void Operator::OptionalInputRegister(const char *, const char *) {}
void Operator::OutputRegister(const char *, const char *) {}
void Operator::DynamicInputRegister(const char *, uint32_t, const char *, bool) {}
void Operator::DynamicOutputRegister(const char *, uint32_t, const char *, bool) {}
void Operator::DataTypeRegister(const char *, const TensorType &) {}
void Operator::DataTypeRegister(const char *, const Promote &) {}

uint32_t Operator::GetName(AscendString &name) const {
  name = AscendString(GetName().c_str());
  return kSuccess;
}
std::string Operator::GetName() const { return attributes_ ? attributes_->name : std::string(); }
uint32_t Operator::GetOpType(AscendString &type) const {
  type = AscendString(GetOpType().c_str());
  return kSuccess;
}
std::string Operator::GetOpType() const { return attributes_ ? attributes_->type : std::string(); }

uint32_t Operator::UpdateInputDesc(const char *, const TensorDesc &) { return kSuccess; }
uint32_t Operator::UpdateInputDesc(const std::string &, const TensorDesc &) { return kSuccess; }
uint32_t Operator::UpdateOutputDesc(const char *, const TensorDesc &) { return kSuccess; }
uint32_t Operator::UpdateOutputDesc(const std::string &, const TensorDesc &) { return kSuccess; }
Operator &Operator::SetInput(const char *, const Operator &) { return *this; }
Operator &Operator::SetInput(const char *, uint32_t, const Operator &) { return *this; }
Operator &Operator::SetInput(const char *, uint32_t, const Operator &, const char *) {
  return *this;
}
Operator &Operator::SetInput(const std::string &, const Operator &) { return *this; }
int Operator::GetDynamicOutputNum(const std::string &) const { return 0; }

// ---- prototypes: the plugin registers a function for each when it is loaded

using Creator = std::function<Operator(const AscendString &)>;
using StringCreator = std::function<Operator(const std::string &)>;

template <class Function>
std::map<std::string, Function> &prototypes() {
  static auto *registered = new std::map<std::string, Function>();
  return *registered;
}

class OperatorCreatorRegister {
 public:
  OperatorCreatorRegister(const char *type, const Creator &creator);
  OperatorCreatorRegister(const std::string &type, const StringCreator &creator);
};

OperatorCreatorRegister::OperatorCreatorRegister(const char *type, const Creator &creator) {
  prototypes<Creator>()[type] = creator;
}
OperatorCreatorRegister::OperatorCreatorRegister(const std::string &type,
                                                 const StringCreator &creator) {
  prototypes<StringCreator>()[type] = creator;
}

class OperatorFactory {
 public:
  static Operator CreateOperator(const char *name, const char *type);
  static Operator CreateOperator(const std::string &name, const std::string &type);
  static bool IsExistOp(const char *type);
  static bool IsExistOp(const std::string &type);
};

Operator OperatorFactory::CreateOperator(const char *name, const char *type) {
  const auto creator = prototypes<Creator>().find(type);
  if (creator != prototypes<Creator>().end()) return creator->second(AscendString(name));
  const auto other = prototypes<StringCreator>().find(type);
  if (other != prototypes<StringCreator>().end()) return other->second(std::string(name));
  return Operator(name, type);
}
Operator OperatorFactory::CreateOperator(const std::string &name, const std::string &type) {
  return CreateOperator(name.c_str(), type.c_str());
}
bool OperatorFactory::IsExistOp(const char *type) {
  return prototypes<Creator>().count(type) != 0 || prototypes<StringCreator>().count(type) != 0;
}
bool OperatorFactory::IsExistOp(const std::string &type) { return IsExistOp(type.c_str()); }

}  // namespace ge

// The chip: kernel selection differs between generations, and asks for its name.
extern "C" const char *aclrtGetSocName() {
  const char *name = getenv("MS_MIGRATE_SOC");
  return name != nullptr ? name : "Ascend910B2";
}
