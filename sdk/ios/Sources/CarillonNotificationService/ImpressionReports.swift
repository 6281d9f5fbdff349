#if canImport(UserNotifications)
    import Foundation

    #if canImport(CarillonCore)
        import CarillonCore
    #endif
    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Reports that a message was shown. The token that came with it is the credential, so the extension needs no app key and
    /// leaves the queue of the app alone. The system sends the report when there is a network, also after the extension ended.
    final class ImpressionReports: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        private static let lock = NSLock()
        nonisolated(unsafe) private static var made: ImpressionReports?

        private let host: URL
        private let folder: URL
        private var session: URLSession!

        /// Returns the one of the process: two sessions of one name are undefined. Nil without a host or an App Group, in whose
        /// folder reports wait.
        static func of(_ settings: ExtensionSettings) -> ImpressionReports? {
            guard let host = settings.host, let group = settings.group, let name = settings.groupName else { return nil }
            return lock.withLock {
                if made == nil { made = ImpressionReports(host: host, group: group, groupName: name) }
                return made
            }
        }

        private init(host: URL, group: URL, groupName: String) {
            self.host = host
            folder = group.appendingPathComponent("carillon-reports", isDirectory: true)
            super.init()
            let name = "\(Bundle.main.bundleIdentifier ?? "app").carillon-reports"
            let configuration = URLSessionConfiguration.background(withIdentifier: name)
            configuration.sharedContainerIdentifier = groupName
            // The service accepts reports for a week.
            configuration.timeoutIntervalForResource = 7 * 24 * 3600
            session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        }

        func send(_ message: CarillonMessage) {
            guard let token = message.reportToken else { return }
            // One id for a report however often it is tried, so that it counts once.
            let report = ["token": token, "kind": Receipt.Kind.shown.interaction, "id": UUID().uuidString]
            guard let body = try? JSONEncoder().encode(report), let file = store(body) else { return }
            var request = URLRequest(url: host.appendingPathComponent("v1/interactions"))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            // A session in the background accepts files only.
            let task = session.uploadTask(with: request, fromFile: file)
            task.taskDescription = file.path
            task.resume()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let path = task.taskDescription { try? FileManager.default.removeItem(atPath: path) }
        }

        private func store(_ body: Data) -> URL? {
            let file = folder.appendingPathComponent(UUID().uuidString)
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try body.write(to: file, options: .completeFileProtectionUntilFirstUserAuthentication)
                return file
            } catch {
                return nil
            }
        }
    }
#endif
