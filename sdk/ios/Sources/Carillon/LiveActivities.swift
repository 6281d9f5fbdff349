#if canImport(UIKit) && canImport(ActivityKit)
    import ActivityKit
    import Foundation

    #if canImport(CarillonCore)
        import CarillonCore
    #endif

    /// A token for `PUT /v1/live-activities/{id}/tokens`, which your server calls: it holds the key for it, an app must not.
    public struct LiveActivityToken: Sendable, Equatable {
        public enum Kind: String, Sendable {
            /// Starts activities of the app, on iOS 17.2 and newer. For `startTokens`.
            case start
            /// Updates and ends one activity. For `tokens`.
            case update
        }

        public let kind: Kind
        /// In hexadecimal digits.
        public let token: String
        /// The id that iOS gave the activity; nil for a token that starts activities.
        public let activity: String?
    }

    @available(iOS 16.1, *)
    @available(iOSApplicationExtension, unavailable)
    extension Carillon {
        /// Tokens of all activities of a type, as iOS makes and changes them. Observe them from the start of the app: an activity
        /// that a push starts wakes the app only for a moment.
        public static func liveActivityTokens<Attributes: ActivityAttributes>(
            of type: Attributes.Type
        ) -> AsyncStream<LiveActivityToken> {
            AsyncStream { continuation in
                let observing = Task {
                    await withTaskGroup(of: Void.self) { group in
                        if #available(iOS 17.2, *) {
                            group.addTask {
                                for await token in Activity<Attributes>.pushToStartTokenUpdates {
                                    continuation.yield(.init(kind: .start, token: hexadecimal(token), activity: nil))
                                }
                            }
                        }
                        group.addTask { await observeActivities(of: type, continuation) }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in observing.cancel() }
            }
        }

        private static func observeActivities<Attributes: ActivityAttributes>(
            of type: Attributes.Type, _ continuation: AsyncStream<LiveActivityToken>.Continuation
        ) async {
            await withTaskGroup(of: Void.self) { group in
                var seen = Set<String>()
                func observe(_ activity: Activity<Attributes>) {
                    guard seen.insert(activity.id).inserted else { return }
                    let observed = Unchecked(activity)
                    group.addTask {
                        for await token in observed.value.pushTokenUpdates {
                            let id = observed.value.id
                            continuation.yield(.init(kind: .update, token: hexadecimal(token), activity: id))
                        }
                    }
                }
                for activity in Activity<Attributes>.activities { observe(activity) }
                for await activity in Activity<Attributes>.activityUpdates { observe(activity) }
            }
        }
    }
#endif
