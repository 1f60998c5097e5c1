/** A client that connects and says nothing, or not enough. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { atEnd } from '../scope.ts'

/** Connected; `closedAt` says when the other side has ended it, in `performance.now()`, and 0 until then. */
export async function openSilent(port: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  atEnd(() => socket.destroy())
  await once(socket, 'connect')
  let heard = ''
  let closedAt = 0
  socket.on('data', (chunk) => {
    heard += chunk
  })
  socket.on('close', () => {
    closedAt = performance.now()
  })
  return { socket, heard: () => heard, closedAt: () => closedAt }
}
