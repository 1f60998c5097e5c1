/** Sends and announces a stream on each of two networks. Both use the same multicast group, and differ in level. Ends with its input. */

import { StreamSender, tone } from '../../../simulators/audio/stream-sender.ts'

const networks = [
  { from: '10.77.1.2', name: 'Left : 1', amplitude: 0.5, ssrc: 1 },
  { from: '10.77.2.2', name: 'Right : 1', amplitude: 0.05, ssrc: 2 },
]

for (const { amplitude, ...options } of networks) {
  const target = { address: '239.69.1.1', port: 5004, channels: 1 }
  const sender = await StreamSender.open({ ...target, ...options, signal: tone(997, amplitude) })
  sender.announce()
  sender.start()
}

process.stdin.on('end', () => process.exit()).resume()
