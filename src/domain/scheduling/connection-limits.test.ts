import { expect, it } from 'vitest'
import { connectionLimits } from './connection-limits.ts'

// Reliability: 3.12.4, 3.12.5.
it.each([
  [null, 12_000, 10_000, 3000, 1024],
  [1_048_576, 12_000, 10_000, 3000, 1024],
  [12_256, 12_000, 10_000, 3000, 1024],
  [4096, 3840, 3200, 960, 960],
  [1024, 768, 640, 192, 192],
  [64, 64, 53, 32, 32],
])(
  'allows, with %s descriptors, %d connections, %d WebSockets, and per address %d connections, of which %d are unused',
  (descriptors, connections, sockets, connectionsPerAddress, unusedPerAddress) => {
    expect(connectionLimits(descriptors)).toMatchObject({
      connections,
      sockets,
      connectionsPerAddress,
      unusedPerAddress,
    })
  },
)
