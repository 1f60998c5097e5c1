/** A Lectrosonics receiver that answers on every interface. Ends with its input. */

import { startLectrosonicsSimulator } from '../../../simulators/lectrosonics/dsqd.ts'

await startLectrosonicsSimulator({ host: '0.0.0.0', port: 4080 })
process.stdin.on('end', () => process.exit()).resume()
