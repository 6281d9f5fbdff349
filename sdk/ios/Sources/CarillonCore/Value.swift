import Foundation

/// A value of an attribute: text, number, flag, null, or a list of them. Literals of Swift are values: `["price": 3]`.
public indirect enum Value: Sendable, Equatable {
    case text(String)
    case integer(Int)
    case number(Double)
    case flag(Bool)
    case list([Value])
    case object([String: Value])
    case null
}

public typealias Attributes = [String: Value]

extension Value: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? container.decode(Int.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Value].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Value].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        case .null: try container.encodeNil()
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral integer: Int) { self = .integer(integer) }
    public init(floatLiteral number: Double) { self = .number(number) }
    public init(booleanLiteral flag: Bool) { self = .flag(flag) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral elements: Value...) { self = .list(elements) }
}

extension Value {
    /// Returns attributes that came as objects of Foundation, as bridges to JavaScript have them. Nil if one is something else than
    /// text, number, flag, null, or a list or dictionary of them. By way of JSON, which knows a flag from a number.
    public static func attributes(_ values: [String: Any]) -> Attributes? {
        guard JSONSerialization.isValidJSONObject(values) else { return nil }
        let data = try? JSONSerialization.data(withJSONObject: values)
        return data.flatMap { try? JSONDecoder().decode(Attributes.self, from: $0) }
    }

    /// The text of a value; nil for other values.
    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// Returns the text as a value; null if there is none.
    static func of(_ text: String?) -> Value { text.map(Value.text) ?? .null }
}
