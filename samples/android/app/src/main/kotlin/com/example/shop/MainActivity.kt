package com.example.shop

import android.app.Activity
import android.content.Intent
import android.os.Bundle
import android.widget.Button
import android.widget.LinearLayout
import android.widget.TextView
import dev.carillon.Carillon
import dev.carillon.core.CarillonMessage
import dev.carillon.core.Notice

class MainActivity : Activity() {
    private lateinit var log: TextView
    private val ends = mutableListOf<() -> Unit>()

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        log = TextView(this)
        val page = LinearLayout(this)
        page.orientation = LinearLayout.VERTICAL
        page.fitsSystemWindows = true
        page.addView(button("Tell me about offers") { Carillon.askPermission(this, 1) })
        // A real app passes the token of its server: docs/app-api.md, "Signing users in". A sandbox accepts none.
        page.addView(button("Sign in as Ada") { Carillon.login("ada") })
        page.addView(button("Look at an offer") { Carillon.track("Offer viewed", mapOf("offer" to "tea")) })
        page.addView(button("Sign out") { Carillon.logout() })
        page.addView(log)
        setContentView(page)
        if (state == null) open(intent)
        ends += Carillon.onMessage { message: CarillonMessage -> show("message: ${message.title}") }
        ends += Carillon.onNotice { notice: Notice -> show("notice: $notice") }
    }

    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        open(intent)
    }

    private fun open(intent: Intent) {
        val link = intent.data
        if (link == null) Carillon.noteLaunch(this, intent)
        else if (link.scheme == "carillon-sample" && Service.connect(this, link)) show("connected")
    }

    override fun onDestroy() {
        ends.forEach { it() }
        super.onDestroy()
    }

    private fun button(text: String, work: () -> Unit): Button {
        val button = Button(this)
        button.text = text
        button.setOnClickListener {
            work()
            show(text)
        }
        return button
    }

    private fun show(line: String) = runOnUiThread { log.append("$line\n") }
}
