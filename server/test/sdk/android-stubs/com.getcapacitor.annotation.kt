package com.getcapacitor.annotation

annotation class CapacitorPlugin(val name: String)
