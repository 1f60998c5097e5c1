/**
 * DSQD receivers at their command ports, as the command reference has them: questions end with CR, answers with CR LF, a
 * leading `!` asks for an answer that repeats its question, nothing is told unasked, and nobody has to say who they are.
 */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createFaultSwitch, createRequestLog, type RequestLog } from '../../simulation/device-api.ts'
import type { Fault, FaultScope } from '../../simulation/faults.ts'
import type { DeviceState, ShowChannel } from '../../simulation/show.ts'
import {
  createShowContext,
  type ShowContext,
  type Simulator,
  type SimulatorOptions,
} from '../../simulation/simulator.ts'

export type LectrosonicsSimulatorOptions = Omit<SimulatorOptions, 'tls' | 'rateLimit' | 'richList' | 'pushesPerSecond'>

/** What one unit says; null: nobody is there. */
type Look = () => DeviceState | undefined

interface Unit {
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  close(): Promise<void>
}

/** Each receiver of the show is a unit of its own, at the port given and those that follow it. */
export async function startLectrosonicsSimulator(options: LectrosonicsSimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', port = 0, now = Date.now } = options
  const stage = createShowContext('lectrosonics', 2, options)
  const { log, record: note } = createRequestLog(now)
  const faults = createFaultSwitch(() => {
    for (const { sockets } of units) for (const socket of sockets) socket.destroy()
  })
  const units: Unit[] = []
  for (const [at, { device }] of stage.show.devicesAt(stage.elapsed(), stage.manufacturer).entries()) {
    const look = () => stage.show.deviceAt(stage.elapsed(), device.id)
    const place = { host, port: port === 0 ? 0 : port + at }
    units.push(await startUnit(place, { look, take: faults.take, note: (path) => void note({ method: 'TCP', path }) }))
  }
  const addresses = units.map((unit) => `tcp://${host}:${unit.port}`)
  return toSimulator(stage, { addresses, units, log, setFault: faults.set })
}

function toSimulator(
  stage: ShowContext,
  about: {
    readonly addresses: readonly string[]
    readonly units: readonly Unit[]
    readonly log: RequestLog
    readonly setFault: (fault: Fault | null, scope?: FaultScope) => void
  },
): Simulator {
  const { addresses, units, log, setFault } = about
  const sockets = () => units.flatMap((unit) => [...unit.sockets])
  return {
    manufacturer: stage.manufacturer,
    baseUrl: addresses[0] ?? '',
    config: { devices: addresses },
    show: stage.show,
    requests: log,
    push: {
      get links() {
        return sockets().length
      },
      sent: 0,
      // It tells nothing unasked.
      flush: () => {},
      pause: () => {},
      resume: () => {},
      send: (text) => {
        for (const socket of sockets()) socket.write(`${text}\r\n`)
      },
    },
    get deviceCount() {
      return stage.show.countAt(stage.elapsed(), stage.manufacturer)
    },
    elapsed: stage.elapsed,
    setFault,
    close: async () => {
      await Promise.all(units.map((unit) => unit.close()))
    },
  }
}

// --- One unit ---------------------------------------------------------------------------------------------------------

async function startUnit(
  place: { readonly host: string; readonly port: number },
  about: { readonly look: Look; readonly take: (path: string) => Fault | null; readonly note: (path: string) => void },
): Promise<Unit> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (!about.look()?.online) return void socket.destroy()
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let rest = ''
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r')
      // A line that does not end is cut off, as a device with little memory would.
      rest = (lines.pop() ?? '').slice(-1024)
      for (const line of lines) hear(socket, line.trim())
    })
  })

  const hear = (socket: Socket, line: string) => {
    const state = about.look()
    about.note(line)
    if (!state?.online) return void socket.destroy()
    const fault = about.take(line)
    const answer = `${answerTo(line, state)}\r\n`
    if (fault === null) socket.write(answer, 'latin1')
    else misbehave(socket, fault, answer)
  }

  await listen(server, place)
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

function misbehave(socket: Socket, fault: Fault, answer: string): void {
  switch (fault.type) {
    case 'reset':
      return void socket.resetAndDestroy()
    case 'truncated':
      return void socket.end(answer.slice(0, -3))
    case 'drip': {
      let sent = 0
      const timer = setInterval(() => socket.write(answer.charAt(sent++)), 500)
      return void socket.on('close', () => clearInterval(timer))
    }
    case 'not-json':
      return void socket.write('?? 17 #\r\n')
    case 'huge':
      return void socket.write('x'.repeat(1024 * 1024))
    // Everything else that can be wrong with a server looks like silence here.
    default:
  }
}

// --- What it says -----------------------------------------------------------------------------------------------------

function answerTo(line: string, state: DeviceState): string {
  const [, bang, name = '', address] = /^(!?)([a-z]+)(?:\(([1-4]|\*)\))?\?$/.exec(line) ?? []
  const value = address === undefined ? deviceValue(name, state) : channelValues(name, address, state)
  if (value === undefined) return 'ERROR'
  const place = address === undefined ? '' : `(${address})`
  return bang === '!' ? `OK ${name}${place}=${value}` : value
}

function deviceValue(name: string, { device }: DeviceState): string | undefined {
  switch (name) {
    case 'id':
      return quote('DSQD')
    case 'serial':
      return quote(device.serial_number)
    case 'macaddr':
      return quote(String(device.mac_address).replaceAll(':', '-'))
    case 'version':
      return quote(device.firmware_version)
    case 'desc':
      return quote(device.name.slice(0, 30))
    case 'ipaddr':
      return quote(device.ip)
    case 'netmask':
      return quote(device.subnet_mask)
    case 'defgate':
      return quote(device.gateway)
    case 'dhcpen':
      return device.network_mode === 'manual' ? '0' : '1'
    default:
      return undefined
  }
}

/** `(*)` gives numbers of all channels at once; texts, and the status, are given one by one. */
function channelValues(name: string, address: string, { channels }: DeviceState): string | undefined {
  if (address !== '*') {
    const channel = channels.find((one) => one.channel === Number(address))
    return channel && channelValue(name, channel)
  }
  const values = channels.map((channel) => channelValue(name, channel))
  const isNumeric = values.every((value) => value !== undefined && /^-?\d+$/.test(value))
  return isNumeric ? `{${values.join(',')}}` : undefined
}

function channelValue(name: string, channel: ShowChannel): string | undefined {
  const { transmitter } = channel
  switch (name) {
    case 'rxname':
      return quote(channel.name.slice(0, 15))
    case 'rxfreq':
      return String(Math.round(Number(channel.frequency) * 1000))
    case 'rxmode':
    case 'rxmute':
      return '0'
    case 'rxalevel':
      return '0'
    case 'txname':
      return quote(transmitter?.name.slice(0, 15) ?? '')
    case 'txbatt':
      return '4'
    case 'txgain':
      return transmitter === null ? '0' : '12'
    case 'txkeygood':
    case 'txrfon':
      return transmitter === null ? '0' : '1'
    case 'chstat':
      return `{${statusOf(channel).join(',')}}`
    default:
      return undefined
  }
}

/** Sixteen numbers. The meters end at -60 dBFS and at 0 and 60 dBµV; the antenna in use changes with the signal. */
function statusOf({ audio_level, rf_level, transmitter }: ShowChannel): number[] {
  const rf = rf_level ?? -107
  const link = transmitter === null ? 0 : 1
  const receiver = [1, 1, link, clamp((audio_level ?? -60) * 2, -120, 0), clamp((rf + 107) * 4, 0, 240), 0]
  const battery = transmitter?.battery ?? 0
  const warning = battery < 10 ? 2 : Number(battery < 25)
  return [...receiver, 1 + (Math.abs(rf) % 2), 0, 1 - link, 42, link * warning, 0, 0, 0, link * 30, battery]
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.round(value)))
}

function quote(text: string | null): string {
  return `"${(text ?? '').replace(/["\\]/g, '\\$&')}"`
}
