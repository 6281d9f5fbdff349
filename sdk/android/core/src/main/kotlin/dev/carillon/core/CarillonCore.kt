package dev.carillon.core

import java.io.IOException
import java.net.URL
import java.util.concurrent.Callable
import java.util.concurrent.CopyOnWriteArraySet
import java.util.concurrent.Executors
import java.util.concurrent.Future
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
import kotlin.math.abs
import org.json.JSONArray
import org.json.JSONException
import org.json.JSONObject

/** How the service is asked, and what the core cannot know by itself. */
class CoreOptions(
    val store: Store,
    val transport: Transport = HttpTransport(),
    /** Milliseconds since 1970. */
    val clock: () -> Long = System::currentTimeMillis,
    /** `locale`, `time_zone`, `app_version`, `os_version`, `model`, `app_id`, as the registration has them. */
    val device: () -> Map<String, String> = { emptyMap() },
    /** Something waits that could not be sent: start again when there is a network, even if the process ends. */
    val onWaiting: () -> Unit = {},
)

/** A code that proves that a push token is this phone's. */
class Challenge(val installationId: String, val code: String)

/** The kinds of receipts. */
enum class ReceiptType(internal val word: String) { SHOWN("shown"), CLICKED("clicked"), DISMISSED("dismissed") }

/** A code for a held token that has not arrived by then is not expected any more. */
private const val MAX_CHALLENGE_WAIT = 60_000L

/**
 * The part of the SDK that needs no Android: who this installation is, and the queue of what it tells the service. Every call
 * stores its change before it returns, and none throws because of the network. One process at a time may use a store.
 */
class CarillonCore(private val options: CoreOptions) {
    private val lock = Any()
    private val noticeListeners = CopyOnWriteArraySet<(Notice) -> Unit>()
    private var state: State = load()
    private val thread = Executors.newSingleThreadScheduledExecutor { work ->
        Thread(work, "carillon").apply { isDaemon = true }
    }
    private var timer: ScheduledFuture<*>? = null

    val installationId: String get() = synchronized(lock) { state.id }

    /** True while a logout has not reached the service: messages are for the user who left and must not be shown. */
    val isHushed: Boolean get() = synchronized(lock) { state.isHushed }

    /**
     * Sends what an earlier process could not send.
     *
     * @param host the address of the service, such as `https://push.example.com`
     * @throws java.net.MalformedURLException if the host is not an http(s) address
     */
    fun start(appKey: String, host: String) {
        val address = originOf(host)
        change {
            // Another service knows nothing of this installation.
            if (it.host != "" && it.host != address) {
                it.isRegistered = false
                it.serviceUser = null
            }
            it.appKey = appKey
            it.host = address
            if (it.queue.isNotEmpty()) ensureRegistered(it, options.clock())
        }
    }

    /**
     * For an app whose own server registers the phone: the core only sends receipts, which need no app key. Receipts that wait
     * are sent.
     *
     * @throws java.net.MalformedURLException if the host is not an http(s) address
     */
    fun startReceiving(host: String) {
        val address = originOf(host)
        change {
            it.appKey = ""
            it.host = address
        }
    }

    /** The address of this phone. The same address is sent once; null means that the phone has none any more. */
    fun setPushToken(token: PushToken?) = change {
        if (it.token == token && it.isRegistered && it.held == null) return@change
        it.token = token
        it.held = null
        it.challenge = null
        enqueueRegister(it, options.clock())
    }

    fun login(userId: String, identityToken: String? = null) =
        changeOwn { enqueueLogin(it, userId to identityToken, options.clock()) }

    fun logout() = changeOwn { signOut(it, options.clock()) }

    /** @param attributes texts, numbers, flags, null, or lists of them */
    fun track(name: String, attributes: Map<String, Any?> = emptyMap()) =
        report(JSONObject().put("type", "event").put("name", name).put("attributes", jsonOf(attributes)))

    /** Null removes an attribute. */
    fun setAttributes(attributes: Map<String, Any?>) =
        report(JSONObject().put("type", "set").put("attributes", jsonOf(attributes)))

    fun optIn() = setOptIn { true }

    fun optOut() = setOptIn { false }

    /** @param token the report token of the message @param action the type of the button */
    fun receipt(token: String, type: ReceiptType, action: String? = null) = change {
        val body = JSONObject().put("token", token).put("type", type.word).put("action", action)
        enqueueReceipt(it, body, options.clock())
    }

    fun answer(challenge: Challenge) = change { answerChallenge(it, challenge, options.clock()) }

    /** There is a network again. A wait that the service asked for goes on. */
    fun online() = change { if (it.isOffline) it.waitUntil = 0 }

    /** @return a function that ends it */
    fun onNotice(listener: (Notice) -> Unit): () -> Unit {
        noticeListeners.add(listener)
        return { noticeListeners.remove(listener) }
    }

    /** Tries to send what waits. @return milliseconds until the next attempt; null if nothing waits that could be sent */
    fun sync(): Future<Long?> = thread.submit(Callable { attempt() })

    private fun report(body: JSONObject) = changeOwn { enqueueReport(it, body, options.clock()) }

    private fun setOptIn(wanted: () -> Boolean) = changeOwn {
        it.isOptedIn = wanted()
        enqueueRegister(it, options.clock())
    }

    /** @throws IllegalStateException if the server of the app registers the phone, and so knows the user */
    private fun changeOwn(work: (State) -> Unit) {
        check(!synchronized(lock) { state.isReceiverOnly }) { "startReceiving has no app key; call Carillon.start instead" }
        change(work)
    }

    private fun change(work: (State) -> Unit) {
        changeState(work)
        sync()
    }

    private fun <Result> changeState(work: (State) -> Result): Result = synchronized(lock) {
        val result = work(state)
        limitQueue(state)
        try {
            options.store.write(state.write())
        } catch (ignored: IOException) {
            // The disk is full: the change lives as long as the process, and the next write stores it.
        }
        result
    }

    private fun load(): State =
        try {
            options.store.read()?.let { State.read(it) } ?: State()
        } catch (ignored: JSONException) {
            // Not written by this version; a new installation is better than an app that never starts.
            State()
        }

    private fun attempt(): Long? {
        timer?.cancel(false)
        val wait = flush()
        if (wait != null) {
            timer = thread.schedule({ attempt() }, wait, TimeUnit.MILLISECONDS)
            options.onWaiting()
        }
        return wait
    }

    private fun flush(): Long? {
        while (true) {
            val now = options.clock()
            if (isChallengeLate(now)) {
                noticeListeners.forEach { it(Notice.TOKEN_LOST) }
                continue
            }
            val plan = synchronized(lock) { plan(now) }
            val items = plan.items ?: return plan.wait
            val response = try {
                options.transport.post(plan.request!!)
            } catch (ignored: IOException) {
                null
            }
            val notice = changeState { settle(it, items, plan.installationId, response, options.clock()) }
            if (notice != null) noticeListeners.forEach { it(notice) }
        }
    }

    private class Plan(val items: List<Item>?, val request: Request?, val wait: Long?, val installationId: String)

    private fun plan(now: Long): Plan {
        val challengeWait = state.held?.let { MAX_CHALLENGE_WAIT - abs(now - it.at) }
        val wait = state.waitUntil - now
        // A clock that was set back must not delay this for more than the longest wait.
        if (wait in 1..MAX_WAIT) return Plan(null, null, wait, state.id)
        val items = if (state.host == "") emptyList() else nextItems(state)
        if (items.isEmpty()) return Plan(null, null, challengeWait, state.id)
        return Plan(items, requestFor(state, items, options.device(), now), null, state.id)
    }

    private fun isChallengeLate(now: Long): Boolean {
        val isLate = synchronized(lock) { state.held?.let { abs(now - it.at) >= MAX_CHALLENGE_WAIT } ?: false }
        if (isLate) changeState { it.held = null }
        return isLate
    }
}

private fun originOf(host: String): String = URL(host).let { "${it.protocol}://${it.authority}" }

private fun jsonOf(values: Map<String, Any?>): JSONObject {
    val json = JSONObject()
    for ((name, value) in values) {
        val one = if (value is Collection<*>) JSONArray(value.map { it ?: JSONObject.NULL }) else value
        json.put(name, one ?: JSONObject.NULL)
    }
    return json
}
