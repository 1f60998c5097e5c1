/**
 * Simulates DSQD receivers at their command ports, following the command reference: queries end with CR, answers with
 * CR LF, a leading `!` requests an answer that repeats the query, nothing is pushed, and no authentication is required.
 */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { commonScale, type ReportedScale } from '../show/day-levels.ts'
import { createFaultSwitch, createRequestLog, type RequestLog } from '../show/device-api.ts'
import type { Fault, FaultScope } from '../show/faults.ts'
import type { DeviceState, ShowChannel } from '../show/show.ts'
import { createShowContext, type ShowContext, type Simulator, type SimulatorOptions } from '../show/simulator.ts'

export type LectrosonicsSimulatorOptions = Omit<SimulatorOptions, 'tls' | 'rateLimit' | 'richList' | 'pushesPerSecond'>

/** Returns the state of one DSQD; undefined if it does not exist. */
type GetState = () => DeviceState | undefined

interface Unit {
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  close(): Promise<void>
}

/** Starts one DSQD for each receiver in the show, at the given port and the following ones. */
export async function startLectrosonicsSimulator(options: LectrosonicsSimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', port = 0, now = Date.now } = options
  const context = createShowContext('lectrosonics', 2, options)
  const { log, record: recordQuery } = createRequestLog(now)
  const faults = createFaultSwitch(() => {
    for (const { sockets } of units) for (const socket of sockets) socket.destroy()
  })
  const units: Unit[] = []
  for (const [index, { device }] of context.show.devicesAt(context.elapsed(), context.manufacturer).entries()) {
    const getState = () => context.show.deviceAt(context.elapsed(), device.id)
    const address = { host, port: port === 0 ? 0 : port + index }
    units.push(
      await startUnit(address, {
        getState,
        takeFault: faults.take,
        recordQuery: (path) => void recordQuery({ method: 'TCP', path }),
      }),
    )
  }
  const addresses = units.map((unit) => `tcp://${host}:${unit.port}`)
  return toSimulator(context, { addresses, units, log, setFault: faults.set })
}

function toSimulator(
  context: ShowContext,
  options: {
    readonly addresses: readonly string[]
    readonly units: readonly Unit[]
    readonly log: RequestLog
    readonly setFault: (fault: Fault | null, scope?: FaultScope) => void
  },
): Simulator {
  const { addresses, units, log, setFault } = options
  const sockets = () => units.flatMap((unit) => [...unit.sockets])
  return {
    manufacturer: context.manufacturer,
    baseUrl: addresses[0] ?? '',
    config: { devices: addresses },
    show: context.show,
    requests: log,
    push: {
      get connections() {
        return sockets().length
      },
      sent: 0,
      // The device pushes nothing.
      flush: () => {},
      pause: () => {},
      resume: () => {},
      send: (text) => {
        for (const socket of sockets()) socket.write(`${text}\r\n`)
      },
    },
    get deviceCount() {
      return context.show.countAt(context.elapsed(), context.manufacturer)
    },
    elapsed: context.elapsed,
    setFault,
    close: async () => {
      await Promise.all(units.map((unit) => unit.close()))
    },
  }
}

// --- One unit ---------------------------------------------------------------------------------------------------------

async function startUnit(
  address: { readonly host: string; readonly port: number },
  options: {
    readonly getState: GetState
    readonly takeFault: (path: string) => Fault | null
    readonly recordQuery: (path: string) => void
  },
): Promise<Unit> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (!options.getState()?.online) return void socket.destroy()
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let rest = ''
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r')
      // An unterminated line is truncated.
      rest = (lines.pop() ?? '').slice(-1024)
      for (const line of lines) receive(socket, line.trim())
    })
  })

  const receive = (socket: Socket, line: string) => {
    const state = options.getState()
    options.recordQuery(line)
    if (!state?.online) return void socket.destroy()
    const fault = options.takeFault(line)
    const answer = `${toAnswer(line, state)}\r\n`
    if (fault === null) socket.write(answer, 'latin1')
    else applyFault(socket, fault, answer)
  }

  await listen(server, address)
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

function applyFault(socket: Socket, fault: Fault, answer: string): void {
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
    // All other faults leave the query unanswered.
    default:
  }
}

// --- Answers ----------------------------------------------------------------------------------------------------------

function toAnswer(line: string, state: DeviceState): string {
  const [, prefix, name = '', address] = /^(!?)([a-z]+)(?:\(([1-4]|\*)\))?\?$/.exec(line) ?? []
  const value = address === undefined ? deviceValue(name, state) : channelValues(name, address, state)
  if (value === undefined) return 'ERROR'
  const suffix = address === undefined ? '' : `(${address})`
  return prefix === '!' ? `OK ${name}${suffix}=${value}` : value
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

/** Returns the value of one channel; for `(*)`, those of all channels. Texts and the status do not support `(*)`. */
function channelValues(name: string, address: string, { channels }: DeviceState): string | undefined {
  if (address !== '*') {
    const channel = channels.find((candidate) => candidate.channel === Number(address))
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

/**
 * Returns the values of `chstat`. Audio levels are limited to -60 to 0 dBFS, RF levels to 0 to 60 dBµV; the active
 * antenna changes with the RF level.
 */
function statusOf({ audio_level, rf_level, transmitter }: ShowChannel): number[] {
  const rf = rf_level ?? -107
  const linked = transmitter === null ? 0 : 1
  const receiver = [1, 1, linked, clamp((audio_level ?? -60) * 2, -120, 0), clamp((rf + 107) * 4, 0, 240), 0]
  const battery = transmitter?.battery ?? 0
  const warning = battery < 10 ? 2 : Number(battery < 25)
  return [...receiver, 1 + (Math.abs(rf) % 2), 0, 1 - linked, 42, linked * warning, 0, 0, 0, linked * 30, battery]
}

/** What `statusOf` reports of the show. */
export const reportedScale: ReportedScale = { ...commonScale, rf: [-107, -47], audio: [-60, 0] }

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.round(value)))
}

function quote(text: string | null): string {
  return `"${(text ?? '').replace(/["\\]/g, '\\$&')}"`
}
