/** Worker thread that receives audio, so that neither packets nor sound delay the service. */

import { parentPort } from 'node:worker_threads'
import type { LocalAddress } from '../domain/identity/network.ts'
import { isSameJson } from '../domain/json.ts'
import { Holder, Listener, wallClock } from './channel-consumers.ts'
import { type ChannelConsumer, Flow } from './flow.ts'
import { SapListener } from './sap-listener.ts'
import type { ReceivedStream, SearchStatus, WorkerCall, WorkerEvent } from './worker-messages.ts'

const statusEveryMs = 500

interface Use {
  readonly streamId: number
  readonly channel: number
  /** Made anew when the stream changes, because its rate may. */
  create(stream: ReceivedStream): ChannelConsumer
  consumer: ChannelConsumer | null
}

class AudioWorker {
  readonly #streams = new Map<number, ReceivedStream>()
  readonly #flows = new Map<number, Flow>()
  readonly #uses = new Map<number, Use>()
  readonly #warnings = new Set<string>()
  readonly #timer = setInterval(() => this.#postStatuses(), statusEveryMs)
  #sap: SapListener | null = null
  /** The status of the search that was last posted. */
  #posted: SearchStatus | null = null

  async call(call: WorkerCall): Promise<void> {
    switch (call.type) {
      case 'clock':
        wallClock.set(call.offset)
        return
      case 'discover':
        return this.#discover(call.interfaces)
      case 'stream':
        return this.#setStream(call.stream)
      case 'remove':
        return this.#removeStream(call.streamId)
      case 'meter':
        this.#open(call.streamId)?.meter()
        return
      case 'listen':
        return this.#listen(call)
      case 'hold':
        return this.#hold(call)
      case 'end':
        return this.#end(call.use)
      case 'discard':
        this.#holder(call.use)?.sound.discard()
        return
      case 'read': {
        const audio = this.#holder(call.use)?.sound.read(call.from, call.to) ?? null
        post({ type: 'read', request: call.request, audio })
        return
      }
      case 'close':
        return this.#close()
      default:
        call satisfies never
    }
  }

  #discover(interfaces: readonly LocalAddress[]): void {
    this.#sap?.close()
    this.#sap = new SapListener(
      interfaces,
      (announcement) => post({ type: 'announced', announcement }),
      (message) => this.#warn(message),
    )
  }

  #setStream(stream: ReceivedStream): void {
    if (isSameJson(this.#streams.get(stream.id), stream)) return
    this.#streams.set(stream.id, stream)
    const wasReceived = this.#flows.has(stream.id)
    this.#leave(stream.id)
    const uses = [...this.#uses.values()].filter(({ streamId }) => streamId === stream.id)
    for (const use of uses) this.#attach(use)
    if (wasReceived && uses.length === 0) this.#open(stream.id)
  }

  #removeStream(streamId: number): void {
    this.#leave(streamId)
    this.#streams.delete(streamId)
  }

  #hold({ use, ...rest }: Extract<WorkerCall, { type: 'hold' }>): void {
    const create = ({ rate }: ReceivedStream) =>
      new Holder(rate, (findings) => post({ type: 'findings', use, findings }))
    this.#add(use, { ...rest, consumer: null, create })
  }

  #listen({ use, rate, ...rest }: Extract<WorkerCall, { type: 'listen' }>): void {
    const create = (stream: ReceivedStream) =>
      new Listener(stream.rate, rate, (frame) => post({ type: 'frame', use, ...frame }, [frame.samples.buffer]))
    this.#add(use, { ...rest, consumer: null, create })
  }

  #add(id: number, use: Use): void {
    this.#uses.set(id, use)
    this.#attach(use)
  }

  #attach(use: Use): void {
    use.consumer = null
    const flow = this.#open(use.streamId)
    if (flow === undefined || use.channel > flow.stream.channels) return
    use.consumer = use.create(flow.stream)
    flow.attach(use.channel, use.consumer)
  }

  #end(id: number): void {
    const use = this.#uses.get(id)
    this.#uses.delete(id)
    if (use?.consumer) this.#flows.get(use.streamId)?.detach(use.channel, use.consumer)
  }

  #holder(id: number): Holder | null {
    const consumer = this.#uses.get(id)?.consumer
    return consumer instanceof Holder ? consumer : null
  }

  #open(streamId: number): Flow | undefined {
    const opened = this.#flows.get(streamId)
    const stream = this.#streams.get(streamId)
    if (opened !== undefined || stream === undefined) return opened
    const flow = new Flow(stream, {
      onLeft: () => this.#leave(streamId),
      onWarning: (message) => this.#warn(message),
    })
    this.#flows.set(streamId, flow)
    return flow
  }

  #leave(streamId: number): void {
    const flow = this.#flows.get(streamId)
    if (flow === undefined) return
    this.#flows.delete(streamId)
    post({ type: 'statuses', statuses: [flow.status(false)] })
    void flow.close()
  }

  #postStatuses(): void {
    this.#postSearch()
    if (this.#flows.size === 0) return
    post({ type: 'statuses', statuses: [...this.#flows.values()].map((flow) => flow.status(true)) })
  }

  #postSearch(): void {
    const status = this.#sap?.status
    if (status === undefined || isSameJson(status, this.#posted)) return
    this.#posted = status
    post({ type: 'searched', status })
  }

  #warn(message: string): void {
    if (this.#warnings.has(message)) return
    this.#warnings.add(message)
    post({ type: 'warning', message })
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    this.#sap?.close()
    await Promise.all([...this.#flows.values()].map((flow) => flow.close()))
    parentPort?.close()
  }
}

function post(event: WorkerEvent, transferred: readonly ArrayBufferLike[] = []): void {
  parentPort?.postMessage(event, transferred as readonly ArrayBuffer[])
}

const worker = new AudioWorker()
parentPort?.on('message', (call: WorkerCall) => void worker.call(call))
