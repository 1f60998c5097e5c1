/** A worker thread that sends the sound of the demo's microphones as one stream to this machine. */

import { parentPort } from 'node:worker_threads'
import { DemoSound } from './demo-sound.ts'
import type { SoundReply, SoundTask } from './demo-voices.ts'
import { findFreePort, StreamSender } from './stream-sender.ts'

const port = parentPort
if (port === null) throw new Error('This file runs in a worker thread only.')

const address = '127.0.0.1'
let sound = new DemoSound([])

const reply = (message: SoundReply, transferred: ArrayBuffer[] = []) => port.postMessage(message, transferred)

port.on('message', async (task: SoundTask) => {
  if (task.type === 'read') {
    const samples = sound.read(task.microphone, task.fromMs, task.toMs)
    reply({ type: 'samples', samples }, [samples.buffer])
    return
  }
  const { microphones, startedAt } = task
  sound = new DemoSound(microphones)
  let start = 0
  const sender = await StreamSender.open({
    ...{ address, port: await findFreePort(address), channels: microphones.length, encoding: 'L16', ptime: 4 },
    ...{ name: 'Demo : Voices', labels: microphones.map(({ setup }) => setup.name) },
    signal: (frame, microphone) => sound.sampleAt(microphone, start + frame),
  })
  start = (Date.now() - startedAt) * 48
  sender.start()
  reply({ type: 'started', sdp: sender.sdp })
})
