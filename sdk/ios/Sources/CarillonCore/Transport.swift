import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

public struct Request: Sendable {
    public let address: String
    public let headers: [String: String]
    public let body: [String: Value]?
}

/// `code` is the service's word for an error, empty for a success.
public struct Response: Sendable {
    public let status: Int
    public let code: String
    public let retryAfterSeconds: Int

    public init(status: Int, code: String, retryAfterSeconds: Int) {
        self.status = status
        self.code = code
        self.retryAfterSeconds = retryAfterSeconds
    }
}

public protocol Transport: Sendable {
    /// Posts the request. Throws if no response came.
    func post(_ request: Request) async throws -> Response
}

/// Posts by `URLSession`. Keeps no cookies and follows no redirect: the app key is for one host.
public final class HttpTransport: NSObject, Transport, URLSessionTaskDelegate {
    private static let maxSeconds = 15.0

    public func post(_ request: Request) async throws -> Response {
        guard let url = URL(string: request.address) else { throw URLError(.badURL) }
        var sent = URLRequest(url: url, timeoutInterval: Self.maxSeconds)
        sent.httpMethod = "POST"
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        if let body = request.body {
            sent.setValue("application/json", forHTTPHeaderField: "Content-Type")
            sent.httpBody = try JSONEncoder().encode(body)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        let prepared = sent
        return try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: prepared) { data, response, error in
                if let response = response as? HTTPURLResponse {
                    continuation.resume(returning: Self.read(response, data ?? Data()))
                } else {
                    continuation.resume(throwing: error ?? URLError(.badServerResponse))
                }
            }.resume()
        }
    }

    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    private static func read(_ response: HTTPURLResponse, _ data: Data) -> Response {
        struct Problem: Decodable { let code: String? }
        // A proxy or a sign-in page of a network may reply instead of the service.
        let problem = try? JSONDecoder().decode(Problem.self, from: data)
        let wait = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
        return Response(status: response.statusCode, code: problem?.code ?? "", retryAfterSeconds: wait ?? 0)
    }
}
