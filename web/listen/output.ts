/** The end of the audio graph: a worklet where the page is a secure context, otherwise a ScriptProcessor. */

import { PlayoutBuffer, type PlayoutStatus } from './playout.ts'
import workletAddress from './playout-worklet.ts?worker&url'

export interface Output {
  write(sequence: number, frame: Int16Array<ArrayBuffer>): void
  close(): void
}

/** With half as many, a busy page misses one in 200 blocks, which clicks. */
const scriptSamples = 2048
const statusMs = 100

/** `rate`: of the frames in Hz. */
export async function createOutput(
  context: AudioContext,
  destination: AudioNode,
  rate: number,
  onStatus: (status: PlayoutStatus) => void,
): Promise<Output> {
  // Outside of secure contexts, `AudioWorkletNode` is defined all the same.
  if (context.audioWorklet === undefined) return createScript(context, destination, rate, onStatus)
  await context.audioWorklet.addModule(workletAddress)
  const node = new AudioWorkletNode(context, 'playout', {
    numberOfInputs: 0,
    outputChannelCount: [1],
    processorOptions: { rate },
  })
  node.port.onmessage = ({ data }) => onStatus(data)
  node.connect(destination)
  return {
    write: (sequence, frame) => node.port.postMessage({ sequence, frame }, [frame.buffer]),
    close() {
      node.port.postMessage('stop')
      node.disconnect()
    },
  }
}

function createScript(
  context: AudioContext,
  destination: AudioNode,
  rate: number,
  onStatus: (status: PlayoutStatus) => void,
): Output {
  const buffer = new PlayoutBuffer(rate, context.sampleRate)
  const node = context.createScriptProcessor(scriptSamples, 0, 1)
  let reportedAt = 0
  node.onaudioprocess = ({ outputBuffer }) => {
    buffer.read(outputBuffer.getChannelData(0))
    const now = performance.now()
    if (now - reportedAt < statusMs) return
    reportedAt = now
    onStatus(buffer.takeStatus())
  }
  node.connect(destination)
  return {
    write: (sequence, frame) => buffer.write(sequence, frame),
    close() {
      node.onaudioprocess = null
      node.disconnect()
    },
  }
}
