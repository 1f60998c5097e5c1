/** Simulated receivers that answer queries, one line each, over TCP, and push nothing. */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createFaultSwitch, createRequestLog } from './device-api.ts'
import type { Fault } from './faults.ts'
import type { DeviceState } from './show.ts'
import { isSilenced, type SentValue, type Silence } from './silence.ts'
import type { ShowContext, Simulator, SimulatorOptions } from './simulator.ts'

export type LineDeviceOptions = Omit<SimulatorOptions, 'tls' | 'rateLimit' | 'richList' | 'pushesPerSecond'>

export interface LineProtocol {
  /** Ends every answer; every query ends with CR. */
  readonly answerEnd: string
  /** True if a receiver closes further connections while one is open. */
  readonly hasOneSession?: boolean
  /** `isBusy` is true if another query has arrived together with this one. */
  answer(query: string, state: DeviceState, options: { readonly isBusy: boolean }): string
  kindOf(query: string): SentValue
  /** The answer under the fault `status`. Without it, the query is not answered. */
  answerWithStatus?(query: string, state: DeviceState, status: number): string
}

interface Unit {
  readonly port: number
  readonly sockets: ReadonlySet<Socket>
  close(): Promise<void>
}

export interface LineDevices extends Simulator {
  /** Silenced queries are not answered. */
  setSilence(silence: Silence | null): void
}

/** Starts one device for each receiver in the show, at the given port and the following ones. */
export async function startLineDevices(
  context: ShowContext,
  protocol: LineProtocol,
  options: LineDeviceOptions,
): Promise<LineDevices> {
  const { host = '127.0.0.1', port = 0, now = Date.now } = options
  const { log, record } = createRequestLog(now)
  const faults = createFaultSwitch(() => {
    for (const socket of sockets()) socket.destroy()
  })
  let silence: Silence | null = null
  const units: Unit[] = []
  const sockets = () => units.flatMap((unit) => [...unit.sockets])
  for (const [index, { device }] of context.show.devicesAt(context.elapsed(), context.manufacturer).entries()) {
    const address = { host, port: port === 0 ? 0 : port + index }
    units.push(
      await startUnit(address, protocol, {
        getState: () => context.show.deviceAt(context.elapsed(), device.id),
        takeFault: faults.take,
        isSilenced: (query) => isSilenced(silence, protocol.kindOf(query)),
        recordQuery: (path) => void record({ method: 'TCP', path }),
      }),
    )
  }
  const addresses = units.map((unit) => `tcp://${host}:${unit.port}`)
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
      // The devices push nothing.
      flush: () => {},
      pause: () => {},
      resume: () => {},
      send: (text) => {
        for (const socket of sockets()) socket.write(`${text}${protocol.answerEnd}`)
      },
    },
    get deviceCount() {
      return context.show.countAt(context.elapsed(), context.manufacturer)
    },
    elapsed: context.elapsed,
    setFault: faults.set,
    setSilence(next) {
      silence = next
    },
    close: async () => {
      await Promise.all(units.map((unit) => unit.close()))
    },
  }
}

// --- One unit ---------------------------------------------------------------------------------------------------------

async function startUnit(
  address: { readonly host: string; readonly port: number },
  protocol: LineProtocol,
  options: {
    /** Returns undefined if the device does not exist. */
    readonly getState: () => DeviceState | undefined
    readonly takeFault: (path: string) => Fault | null
    readonly isSilenced: (query: string) => boolean
    readonly recordQuery: (path: string) => void
  },
): Promise<Unit> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const isRefused = protocol.hasOneSession === true && sockets.size > 0
    if (isRefused || !options.getState()?.online) return void socket.on('error', () => {}).destroy()
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let rest = ''
    socket.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\r')
      // An unterminated line is truncated.
      rest = (lines.pop() ?? '').slice(-1024)
      for (const [index, line] of lines.entries()) receive(socket, line.trim(), index > 0)
    })
  })

  const receive = (socket: Socket, query: string, isBusy: boolean) => {
    const state = options.getState()
    options.recordQuery(query)
    if (!state?.online) return void socket.destroy()
    if (options.isSilenced(query)) return
    const fault = options.takeFault(query)
    const send = (answer: string) => socket.write(`${answer}${protocol.answerEnd}`, 'latin1')
    if (fault === null) send(protocol.answer(query, state, { isBusy }))
    else if (fault.type === 'status' && protocol.answerWithStatus !== undefined)
      send(protocol.answerWithStatus(query, state, fault.status))
    else applyFault(socket, fault, `${protocol.answer(query, state, { isBusy })}${protocol.answerEnd}`)
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
