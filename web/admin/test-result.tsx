/** Result of a connection test. */

import type { ConnectionTest } from '../../src/contract/resources/manufacturers.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { statusText } from '../parts/source-status.ts'

const tones = { healthy: 'good', degraded: 'waiting', unhealthy: 'bad' } as const

export function TestResult({ tested }: { tested: ConnectionTest }) {
  return (
    <div role="status">
      <ul className="test-result">
        {tested.sources.length === 0 ? <li>{t('manufacturers.test.unconfigured')}</li> : null}
        {tested.sources.map(({ base_url, status, error, devices }) => (
          <li key={base_url}>
            <span className="tag" data-tone={tones[status]}>
              {statusText(status)}
            </span>{' '}
            <bdi>
              {plainText(status === 'healthy' ? responseText(base_url, devices) : (error ?? failureText(base_url)))}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  )
}

function responseText(address: string, devices: number | null): string {
  return devices === null
    ? t('manufacturers.test.responded', { address })
    : t('manufacturers.test.answered', { address, count: devices })
}

function failureText(address: string): string {
  return t('manufacturers.test.failed', { address })
}
