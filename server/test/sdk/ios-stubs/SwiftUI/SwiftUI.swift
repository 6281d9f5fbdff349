// The declarations of Apple's SwiftUI that the sample uses.
@_exported import Foundation
import UIKit

@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError() }
}

/// Of Apple's views, none has a body.
public protocol Leaf: View where Body == Never {}

extension Leaf {
    public var body: Never { fatalError() }
}

@resultBuilder public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content> {
        fatalError()
    }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { fatalError() }
}

public struct TupleView<each Content: View>: Leaf {}

public struct Text: Leaf {
    public init(_ text: String) {}
}

public struct Button: Leaf {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

public struct List: Leaf {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

public struct ForEach: Leaf {
    public init<Element, ID: Hashable, Content: View>(
        _ data: [Element], id: KeyPath<Element, ID>, @ViewBuilder content: @escaping (Element) -> Content
    ) {}
}

public struct Modified: Leaf {}

extension View {
    public func onOpenURL(perform action: @escaping @MainActor (URL) -> Void) -> Modified { fatalError() }
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> Modified { fatalError() }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set { fatalError() }
    }
}

@MainActor public protocol Scene {}

public struct WindowGroup: Scene {
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

@MainActor public protocol App {
    associatedtype Body: Scene
    @MainActor var body: Body { get }
    init()
}

extension App {
    public static func main() { fatalError() }
}

@MainActor @propertyWrapper public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
    public init(_ type: Delegate.Type) {}
    public var wrappedValue: Delegate { fatalError() }
}
