/** Makes the lights of a device flash, over a separate connection. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { describeNoResponse } from '../../../upstream/error-messages.ts'
import { openTcpSocket } from '../../../upstream/tcp.ts'
import type { Flashing, FlashRequest, Lights } from '../../plugin.ts'
import { parseFrame, splitAngleFrames } from './frames.ts'

/** Family -> the parts that can flash. Source: Shure's command strings. */
const scopes: Readonly<Record<string, 'device' | 'channel'>> = {
  ulxd: 'channel',
  ad: 'channel',
  slxd: 'device',
  mxw: 'device',
}

export const lights: Lights = { areIn: (deviceType) => scopes[deviceType] !== undefined, flash }

async function flash(
  client: UpstreamClient,
  { deviceType, channel, isOn }: FlashRequest,
  signal: AbortSignal,
): Promise<Flashing | null> {
  const scope = scopes[deviceType]
  if (scope === undefined) return null
  const number = scope === 'channel' ? channel : null
  const { host } = new URL(client.settings.baseUrl)
  const socket = await openTcpSocket(client, { signal, framing: splitAngleFrames })
  try {
    await socket.send(`< SET ${number === null ? '' : `${number} `}FLASH ${isOn ? 'ON' : 'OFF'} >`)
    for await (const messages of socket.messages) {
      for (const frame of messages.map(parseFrame)) {
        if (frame?.type === 'refused') return null
        if (frame?.type === 'property' && frame.key === 'FLASH' && frame.channel === number) return { channel: number }
      }
    }
    throw new client.errors.ApiError(describeNoResponse(host, client.settings.timeoutMs))
  } finally {
    socket.close()
  }
}
