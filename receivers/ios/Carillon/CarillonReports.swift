import Foundation

/// Tells the service what became of a message: `impression`, `click`, `close`. The token that came with it is the
/// credential. The system sends it, when there is a network, also after the app or the extension has ended.
public final class CarillonReports: NSObject, URLSessionDataDelegate {
    private let settings: CarillonSettings
    private var session: URLSession!

    /// One for each process: two sessions of one name are undefined.
    public init(settings: CarillonSettings) {
        self.settings = settings
        super.init()
        let name = "\(Bundle.main.bundleIdentifier ?? "app").carillon-reports"
        let configuration = URLSessionConfiguration.background(withIdentifier: name)
        configuration.sharedContainerIdentifier = settings.appGroup
        // After a week nobody asks any more.
        configuration.timeoutIntervalForResource = 7 * 24 * 3600
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }

    public func send(_ kind: String, of message: CarillonMessage, action: String? = nil) {
        guard let token = message.reportToken else { return }
        // One name for a report however often it is tried, so that it counts once.
        var report = ["token": token, "kind": kind, "id": UUID().uuidString]
        report["action"] = action
        guard let body = try? JSONSerialization.data(withJSONObject: report), let file = store(body) else { return }
        var request = URLRequest(url: settings.service.appendingPathComponent("v1/interactions"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // A session in the background takes files only.
        let task = session.uploadTask(with: request, fromFile: file)
        task.taskDescription = file.path
        task.resume()
    }

    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        if let path = task.taskDescription { try? FileManager.default.removeItem(atPath: path) }
    }

    private func store(_ body: Data) -> URL? {
        let manager = FileManager.default
        guard let group = manager.containerURL(forSecurityApplicationGroupIdentifier: settings.appGroup) else { return nil }
        let folder = group.appendingPathComponent("carillon-reports", isDirectory: true)
        let file = folder.appendingPathComponent(UUID().uuidString)
        do {
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            try body.write(to: file, options: .completeFileProtectionUntilFirstUserAuthentication)
            return file
        } catch {
            return nil
        }
    }
}
