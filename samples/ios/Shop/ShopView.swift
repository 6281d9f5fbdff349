import Carillon
import SwiftUI

struct ShopView: View {
    @State private var log: [String] = []

    var body: some View {
        List {
            Button("Tell me about offers") {
                Task { log.append(await Carillon.askPermission() ? "allowed" : "declined") }
            }
            // A real app passes the token of its server: docs/app-api.md, "Signing users in". A sandbox accepts none.
            Button("Sign in as Ada") { attempt("signed in") { try Carillon.login("ada") } }
            Button("Look at an offer") { attempt("viewed") { try Carillon.track("Offer viewed", ["offer": "tea"]) } }
            Button("Sign out") { attempt("signed out") { try Carillon.logout() } }
            ForEach(log, id: \.self) { Text($0) }
        }
        .onOpenURL { link in attempt("connected") { try Service.connect(link) } }
        .task { for await line in arrivals() { log.append(line) } }
    }

    private func attempt(_ done: String, _ work: () throws -> Void) {
        do {
            try work()
            log.append(done)
        } catch {
            log.append("\(error)")
        }
    }

    /// Messages and notices as lines, for as long as the view is shown.
    private func arrivals() -> AsyncStream<String> {
        AsyncStream { continuation in
            let endMessages = Carillon.onMessage { continuation.yield("message: \($0.title)") }
            let endNotices = Carillon.onNotice { continuation.yield("notice: \($0.rawValue)") }
            continuation.onTermination = { _ in
                endMessages()
                endNotices()
            }
        }
    }
}
