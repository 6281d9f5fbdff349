// The declarations of Apple's ActivityKit that the SDK uses.
import Foundation

public protocol ActivityAttributes: Codable {
    associatedtype ContentState: Codable, Hashable
}

public class Activity<Attributes: ActivityAttributes>: Identifiable {
    public struct PushTokenUpdates: AsyncSequence, Sendable {
        public typealias Element = Data
        public func makeAsyncIterator() -> AsyncStream<Data>.Iterator { fatalError() }
    }

    public struct ActivityUpdates: AsyncSequence, Sendable {
        public typealias Element = Activity<Attributes>
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Activity<Attributes>? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }

    public let id = ""
    public var pushTokenUpdates: PushTokenUpdates { fatalError() }
    public static var pushToStartTokenUpdates: PushTokenUpdates { fatalError() }
    public static var activities: [Activity<Attributes>] { fatalError() }
    public static var activityUpdates: ActivityUpdates { fatalError() }
}
