import Foundation
import React

#if canImport(Carillon)
    import Carillon
#endif

/// Passes calls of JavaScript to the SDK, and its messages and notices to JavaScript. CarillonModule.m declares the methods.
@objc(CarillonModule)
public final class CarillonModule: RCTEventEmitter, @unchecked Sendable {
    private let lock = NSLock()
    private var ends: [@Sendable () -> Void] = []

    @objc public override static func requiresMainQueueSetup() -> Bool { false }

    public override func supportedEvents() -> [String]! { ["carillonMessage", "carillonNotice"] }

    /// JavaScript listens.
    public override func startObserving() {
        let ends = [
            Carillon.onMessage { [weak self] in self?.sendEvent(withName: "carillonMessage", body: describe($0)) },
            Carillon.onNotice { [weak self] in self?.sendEvent(withName: "carillonNotice", body: $0.rawValue) },
        ]
        lock.withLock { self.ends = ends }
    }

    public override func stopObserving() {
        let ends = lock.withLock { () -> [@Sendable () -> Void] in
            defer { self.ends = [] }
            return self.ends
        }
        for end in ends { end() }
    }

    @objc(start:host:resolve:reject:)
    public func start(
        _ appKey: String, host: String, resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock
    ) {
        let promise = BridgePromise(resolve, reject)
        Task { @MainActor in promise.settle { try Carillon.start(appKey: appKey, host: host) } }
    }

    @objc(askPermission:reject:)
    public func askPermission(resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock) {
        let promise = BridgePromise(resolve, reject)
        Task {
            _ = await Carillon.askPermission()
            promise.settle {}
        }
    }

    @objc(login:identityToken:resolve:reject:)
    public func login(
        _ userId: String, identityToken: String?, resolve: @escaping RCTPromiseResolveBlock,
        reject: @escaping RCTPromiseRejectBlock
    ) {
        BridgePromise(resolve, reject).settle { try Carillon.login(userId, identityToken: identityToken) }
    }

    @objc(logout:reject:)
    public func logout(resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock) {
        BridgePromise(resolve, reject).settle { try Carillon.logout() }
    }

    @objc(track:attributes:resolve:reject:)
    public func track(
        _ name: String, attributes: [String: Any], resolve: @escaping RCTPromiseResolveBlock,
        reject: @escaping RCTPromiseRejectBlock
    ) {
        BridgePromise(resolve, reject).settle { try Carillon.track(name, try read(attributes)) }
    }

    @objc(setAttributes:resolve:reject:)
    public func setAttributes(
        _ attributes: [String: Any], resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock
    ) {
        BridgePromise(resolve, reject).settle { try Carillon.setAttributes(try read(attributes)) }
    }

    @objc(optIn:reject:)
    public func optIn(resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock) {
        BridgePromise(resolve, reject).settle { try Carillon.optIn() }
    }

    @objc(optOut:reject:)
    public func optOut(resolve: @escaping RCTPromiseResolveBlock, reject: @escaping RCTPromiseRejectBlock) {
        BridgePromise(resolve, reject).settle { try Carillon.optOut() }
    }
}

private enum BridgeError: Error { case attributesInvalid }

private func read(_ attributes: [String: Any]) throws -> Attributes {
    guard let values = Value.attributes(attributes) else { throw BridgeError.attributesInvalid }
    return values
}

private func describe(_ message: CarillonMessage) -> [String: Any] {
    [
        "id": message.id, "title": message.title, "message": message.text, "isSilent": message.isSilent,
        "pairs": message.pairs,
    ]
}

/// React Native calls its blocks on any thread, and once.
private struct BridgePromise: @unchecked Sendable {
    private let resolve: RCTPromiseResolveBlock
    private let reject: RCTPromiseRejectBlock

    init(_ resolve: @escaping RCTPromiseResolveBlock, _ reject: @escaping RCTPromiseRejectBlock) {
        self.resolve = resolve
        self.reject = reject
    }

    func settle(_ work: () throws -> Void) {
        do {
            try work()
            resolve(nil)
        } catch CarillonError.hostInvalid {
            reject("carillon-host", "the host is not an http(s) address", nil)
        } catch BridgeError.attributesInvalid {
            reject("carillon-argument", "attributes are texts, numbers, flags, null, or lists of them", nil)
        } catch {
            reject("carillon-state", "call Carillon.start first", error)
        }
    }
}
