/** What a manufacturer's systems answered to a test, in sentences. */

import type { ConnectionTest } from '../../src/model/manufacturer-api.ts'
import { plainText } from '../format.ts'
import { words } from '../words.ts'

const texts = words.manufacturers.test
const tones = { healthy: 'good', degraded: 'waiting', unhealthy: 'bad' } as const

export function TestResult({ tested }: { tested: ConnectionTest }) {
  return (
    <div role="status">
      <ul className="test-result">
        {tested.sources.length === 0 ? <li>{texts.unconfigured}</li> : null}
        {tested.sources.map(({ base_url, status, error, devices }) => (
          <li key={base_url}>
            <span className="tag" data-tone={tones[status]}>
              {words.manufacturers.statuses[status]}
            </span>{' '}
            <bdi>
              {plainText(status === 'healthy' ? texts.answered(base_url, devices) : texts.failed(base_url, error))}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}
