/** Sends streams of voices in a separate process: `audio-senders.ts <streams> <channels of each>`. */

import { findFreePort, StreamSender } from '../simulators/audio/stream-sender.ts'
import { demoVoices, synthesizeVoice } from '../simulators/audio/voices.ts'

const [streams = 1, channels = 1] = process.argv.slice(2).map(Number)
const voices = demoVoices.map(synthesizeVoice)

/** Each channel starts at another second of a voice. */
function voiceOf(channel: number, frame: number, rate: number): number {
  const voice = voices[channel % voices.length]
  return voice?.[(frame + channel * rate) % voice.length] ?? 0
}

const descriptions: string[] = []
for (let index = 0; index < streams; index += 1) {
  const sender = await StreamSender.open({
    ...{
      address: '127.0.0.1',
      port: await findFreePort('127.0.0.1'),
      channels,
      name: `Stagebox : ${index + 1}`,
      ssrc: index + 1,
    },
    signal: (frame, channel, rate) => voiceOf(index * channels + channel, frame, rate),
  })
  sender.start()
  descriptions.push(sender.sdp)
}
console.log(JSON.stringify({ descriptions }))
