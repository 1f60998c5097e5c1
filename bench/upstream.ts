/**
 * Simulated systems that run in a separate process, so that their CPU time is not part of the measurement:
 * `upstream.ts <options as JSON>`. They push the levels of all their channels at a constant rate over their own
 * WebSockets. For each system, a second WebSocket server without the simulated API (`mirror`) sends the same frames, for
 * example to the reference implementations. Changes of some devices, the marked ones, are also sent over a third
 * WebSocket server (`marks`) with their send times, so that a benchmark can measure latencies.
 */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { type ShureSimulator, startShureSimulator } from '../simulators/shure/device-api.ts'
import type { Mark, MarkedDevice, UpstreamOptions, UpstreamSystem } from './upstream-types.ts'

/** Interval at which due frames are sent if they are spread over time. */
const sendEveryMs = 2
const batteryEveryMs = 100

interface System {
  readonly code: string
  readonly simulator: ShureSimulator
  readonly devices: readonly Device[]
  readonly mirror: WebSocketServer
}

interface Device extends MarkedDevice {
  /** The channels that have a transmitter. */
  readonly active: ReadonlySet<number>
}

const options: UpstreamOptions = JSON.parse(process.argv[2] ?? '{}')
const {
  systems: count,
  receivers,
  channelsPerReceiver,
  pushesPerSecond,
  isSpread = false,
  marked = 0,
  fades = false,
} = options
const numbers = Array.from({ length: channelsPerReceiver }, (_, index) => index + 1)
const systems: System[] = []
for (let index = 0; index < count; index += 1) systems.push(await startSystem(index))
const marks = await listen()
/** The marked devices are spread evenly over the list, and so over time. */
const markEvery = Math.floor(receivers / Math.max(1, marked))
const frameCount = count * receivers
let sent = 0
let batteries = 0

if (pushesPerSecond > 0) startPushing()
if (marked > 0) setInterval(sendBattery, batteryEveryMs)

const described: readonly UpstreamSystem[] = systems.map(({ code, simulator, mirror, devices }) => ({
  ...{ code, plugin: simulator.manufacturer, config: simulator.config, mirror: addressOf(mirror) },
  marked:
    code === systems[0]?.code
      ? devices.filter(({ active }, index) => isMarked(index) && active.has(1)).map(({ id, name }) => ({ id, name }))
      : [],
}))
console.log(JSON.stringify({ systems: described, marks: addressOf(marks) }))

async function startSystem(index: number): Promise<System> {
  const firstNumber = 1 + index * receivers
  const simulated = { receivers, channelsPerReceiver, firstNumber, seed: index + 1 }
  const simulator = await startShureSimulator({ ...simulated, richList: true, story: false, pushesPerSecond: 0 })
  const devices = simulator.show
    .devicesAt(0, simulator.manufacturer)
    .map(({ device: { id, name }, channels }): Device => {
      const active = channels.filter(({ transmitter }) => transmitter !== null)
      return { id, name, active: new Set(active.map(({ channel }) => channel)) }
    })
  return { code: count === 1 ? 'shure' : `shure${index + 1}`, simulator, devices, mirror: await listen() }
}

async function listen(): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  return server
}

function startPushing(): void {
  const startedAt = performance.now()
  const dueFrames = () => Math.floor(((performance.now() - startedAt) / 1000) * pushesPerSecond * frameCount)
  const sendDue = () => {
    const due = isSpread ? dueFrames() : sent + frameCount
    while (sent < due) sendLevels(sent++)
  }
  setInterval(sendDue, isSpread ? sendEveryMs : 1000 / pushesPerSecond)
}

/** Sends new levels of one receiver. The systems take turns. */
function sendLevels(index: number): void {
  const system = systems[index % count] as System
  const device = Math.floor(index / count) % receivers
  const round = Math.floor(index / frameCount)
  const { id: deviceId, active } = system.devices[device] as Device
  if (index % count === 0 && isMarked(device)) mark({ type: 'level', deviceId, value: levelOf(round, 1, true) })
  const entryOf = (channel: number) => {
    const level = levelOf(round, channel, active.has(channel))
    return `{"channel":${channel},"audio_level":${level},"rf_level":${level}}`
  }
  const transmitters = numbers.filter((channel) => active.has(channel))
  send(system, deviceId, `"channels":[${numbers.map(entryOf)}],"transmitters":[${transmitters.map(entryOf)}]`)
}

/** Returns a level that differs from the previous round's, because unchanged levels are not sent to clients. */
function levelOf(round: number, channel: number, isActive: boolean): number {
  if (fades) return -90 + ((round + channel) % 60)
  // Without a transmitter, a higher level would be interference.
  return (isActive ? -60 : -115) + ((round + channel) % 30)
}

/** Sends a new battery level of one of the marked receivers. */
function sendBattery(): void {
  const [system] = systems
  if (system === undefined) return
  const { id: deviceId } = system.devices[(batteries % marked) * markEvery] as Device
  const value = 60 + (Math.floor(batteries / marked) % 40)
  batteries += 1
  mark({ type: 'battery', deviceId, value })
  send(system, deviceId, `"transmitters":[{"channel":1,"battery":${value}}]`)
}

function send({ simulator, mirror }: System, deviceId: string, fields: string): void {
  const frame = `{"type":"device_update","device_id":${JSON.stringify(deviceId)},${fields}}`
  simulator.push.send(frame)
  for (const client of mirror.clients) client.send(frame)
}

function isMarked(device: number): boolean {
  return device % markEvery === 0 && device / markEvery < marked
}

function mark(change: Omit<Mark, 'at'>): void {
  // `hrtime` is the same clock in all processes.
  const text = JSON.stringify({ ...change, at: Number(process.hrtime.bigint()) / 1e6 })
  for (const client of marks.clients) client.send(text)
}

function addressOf(server: WebSocketServer): string {
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}
