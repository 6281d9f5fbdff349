// Plays the steps of `sdk/conformance.json` that an app does. Reads commands from standard input, one line of JSON each, and
// replies with a line when the attempt to send is over. Argument: a folder for the installation.
import Foundation

#if canImport(CarillonCore)
    import CarillonCore
#endif

/// What the clock and the listener of notices share with the main task.
final class Shared: @unchecked Sendable {
    private let lock = NSLock()
    private var notices: [String] = []
    private var ahead = 0

    var seen: [String] { lock.withLock { notices } }
    func see(_ notice: Notice) {
        // The words of the recorded situations.
        lock.withLock { notices.append(notice == .tokenLost ? "subscription-lost" : notice.rawValue) }
    }
    func setAhead(_ milliseconds: Int) { lock.withLock { ahead = milliseconds } }
    func now() -> Int { lock.withLock { ahead } + Int(Date().timeIntervalSince1970 * 1_000) }
}

struct Phone {
    let folder: URL
    let shared = Shared()
    private var installs = 0
    private var core: CarillonCore

    init(folder: URL) {
        self.folder = folder
        core = Phone.open(folder, shared, installs)
    }

    private static func open(_ folder: URL, _ shared: Shared, _ installs: Int) -> CarillonCore {
        var options = CoreOptions(store: FileStore(file: folder.appendingPathComponent("installation-\(installs).json")))
        options.clock = { shared.now() }
        options.device = { ["locale": "de", "time_zone": "Europe/Berlin", "app_version": "1.0"] }
        let opened = CarillonCore(options)
        opened.onNotice { shared.see($0) }
        return opened
    }

    mutating func perform(_ step: [String: Any]) async -> [String: Any] {
        var result: [String: Any] = [:]
        do {
            try act(step, &result)
        } catch {
            result["fault"] = "\(error)"
        }
        await core.sync()
        result["notices"] = shared.seen
        return result
    }

    private mutating func act(_ step: [String: Any], _ result: inout [String: Any]) throws {
        func text(_ name: String) -> String { step[name] as? String ?? "" }
        switch text("do") {
        case "start": try core.start(appKey: text("appKey"), host: text("host"))
        case "start receiving": try core.startReceiving(host: text("host"))
        case "receipt": core.receipt(Receipt(token: text("token"), type: Receipt.Kind(rawValue: text("type"))!))
        case "badge": core.badge(step["value"] as? Int ?? 0)
        case "subscribe": core.setPushToken(PushToken(text("token")))
        case "login": try core.login(text("user"), identityToken: step["token"] as? String)
        case "logout": try core.logout()
        case "track": try core.track(text("event"))
        case "online": core.online()
        case "opt out": try core.optOut()
        case "set": try core.setAttributes(Value.attributes([text("name"): step["value"]!])!)
        case "receive": result["shows"] = receive(step["data"] as? [String: Any] ?? [:])
        case "clock": shared.setAhead((step["aheadSeconds"] as? Int ?? 0) * 1_000)
        case "restart": core = Phone.open(folder, shared, installs)
        case "reinstall":
            installs += 1
            core = Phone.open(folder, shared, installs)
        case "look": break
        case let word: fatalError(word)
        }
    }

    private func receive(_ data: [String: Any]) -> String {
        guard let message = CarillonMessage(userInfo: data) else { return "foreign" }
        if let challenge = message.challenge { core.answer(challenge) }
        return message.challenge != nil || message.isSilent || core.isHushed ? "nothing" : message.title
    }
}

func play(in folder: URL) async throws {
    var phone = Phone(folder: folder)
    while let line = readLine() {
        let step = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        let reply = await phone.perform(step)
        print(String(decoding: try JSONSerialization.data(withJSONObject: reply), as: UTF8.self))
        fflush(nil)
    }
}

try await play(in: URL(fileURLWithPath: CommandLine.arguments[1]))
