/** The bytes to and from an analyser, at a serial port or over TCP. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { abortable, withTimeout } from '../../platform/wait.ts'

/** The analyser cannot be reached, was unplugged or is silent. The message names the port. */
class PortError extends Error {
  override readonly name: string = 'PortError'
}

/** Nothing was received in time. */
export class SilenceError extends PortError {
  override readonly name = 'SilenceError'
}

interface Line {
  write(bytes: Uint8Array): Promise<unknown>
  close(): Promise<unknown>
}

interface LineEvents {
  onBytes(bytes: Buffer): void
  onClose(reason: string): void
}

const connectMs = 5000
const closeMs = 1000
const tcpPrefix = 'tcp://'

export class AnalyserPort {
  readonly name: string
  readonly #signal: AbortSignal
  #line: Line | null = null
  #received: Buffer[] = []
  #closed: string | null = null
  #onChange = () => {}

  private constructor(name: string, signal: AbortSignal) {
    this.name = name
    this.#signal = signal
  }

  /** `name`: `tcp://host:port`, else the path of a serial port. */
  static async open(name: string, baudRate: number, signal: AbortSignal): Promise<AnalyserPort> {
    const port = new AnalyserPort(name, signal)
    const events: LineEvents = { onBytes: (bytes) => port.#receive(bytes), onClose: (reason) => port.#end(reason) }
    const opening = name.startsWith(tcpPrefix) ? openTcp(name, events) : openSerial(name, baudRate, events)
    opening.then(
      (line) => {
        if (signal.aborted) void line.close()
      },
      () => {},
    )
    port.#line = await abortable(opening, signal)
    return port
  }

  /** Resolves with the bytes received since the last call, as soon as there are some. */
  async read(timeoutMs: number): Promise<Buffer> {
    if (this.#received.length === 0 && this.#closed === null) {
      const change = new Promise<void>((resolve) => {
        this.#onChange = resolve
      })
      const waited = await abortable(withTimeout(change, timeoutMs), this.#signal)
      if (waited === 'late') throw new SilenceError(`${this.name}: no answer within ${timeoutMs / 1000} s`)
    }
    const bytes = Buffer.concat(this.#received)
    this.#received = []
    if (bytes.length === 0) throw new PortError(`${this.name}: ${this.#closed}`)
    return bytes
  }

  async write(bytes: string | Uint8Array): Promise<void> {
    if (this.#closed !== null) throw new PortError(`${this.name}: ${this.#closed}`)
    await this.#line?.write(Buffer.from(bytes)).catch((error) => {
      throw new PortError(`${this.name}: ${error.message}`)
    })
  }

  async close(): Promise<void> {
    await this.#line?.close()
  }

  #receive(bytes: Buffer): void {
    this.#received.push(bytes)
    this.#onChange()
  }

  #end(reason: string): void {
    this.#closed ??= reason
    this.#onChange()
  }
}

function openTcp(name: string, { onBytes, onClose }: LineEvents): Promise<Line> {
  const { hostname, port } = new URL(name)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true })
    const fail = (reason: string) => {
      socket.destroy()
      reject(new PortError(`${name}: ${reason}`))
    }
    socket.setTimeout(connectMs, () => fail(`no connection within ${connectMs / 1000} s`))
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.on('data', onBytes).on('close', () => onClose('the connection was closed'))
    socket.on('connect', () => {
      socket.setTimeout(0)
      resolve({
        write: (bytes) =>
          new Promise<void>((done, failed) => socket.write(bytes, (error) => (error ? failed(error) : done()))),
        close: () => endSocket(socket),
      })
    })
  })
}

/**
 * Reads on until the peer has closed. A connection with unread bytes would be reset, and the last command lost with it.
 */
async function endSocket(socket: Socket): Promise<void> {
  const closed = once(socket, 'close').catch(() => {})
  socket.end()
  await withTimeout(closed, closeMs)
  socket.destroy()
}

async function openSerial(path: string, baudRate: number, { onBytes, onClose }: LineEvents): Promise<Line> {
  const { autoDetect } = await import('@serialport/bindings-cpp').catch((cause) => {
    throw new PortError(
      `${path}: serial ports need the package @serialport/bindings-cpp, which is not installed. Install Micwatch without --omit=optional, or share the port over TCP and use tcp://host:port.`,
      { cause },
    )
  })
  const port = await autoDetect()
    .open({ path, baudRate })
    .catch((error) => {
      throw new PortError(`${path}: ${describeOpening(error.message)}`)
    })
  const readOn = async () => {
    const buffer = Buffer.alloc(4096)
    for (;;) {
      const { bytesRead } = await port.read(buffer, 0, buffer.length)
      onBytes(Buffer.from(buffer.subarray(0, bytesRead)))
    }
  }
  readOn().catch(() => {
    onClose('the analyser was unplugged')
    port.close().catch(() => {})
  })
  return { write: (bytes) => port.write(Buffer.from(bytes)), close: () => port.close().catch(() => {}) }
}

function describeOpening(message: string): string {
  if (/permission denied|access denied/i.test(message)) {
    return 'this user may not open it. On Linux, add the user to the group dialout'
  }
  if (/no such file|file not found/i.test(message))
    return 'there is no such port. Check that the analyser is plugged in'
  if (/lock|busy|resource/i.test(message)) return 'another program uses it'
  return message.replace(/^Error:?\s*/, '')
}
