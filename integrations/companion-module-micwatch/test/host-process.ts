/** Runs the built package until its first attempt to connect fails, and prints the status. */

import { InstanceStatus } from '@companion-module/base'
import { TestHost } from './host.ts'

const { default: Module } = await import(new URL('../pkg/micwatch/main.js', import.meta.url).href)
const host = new TestHost(Module)
await host.init({ url: 'http://127.0.0.1:9' })
await host.statusIs(InstanceStatus.ConnectionFailure)
console.log(JSON.stringify(host.status()))
await host.destroy()
