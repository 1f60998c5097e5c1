/** What a service responded to a test message. */

import type { NotificationTestBody } from '../../src/contract/resources/notifications.ts'
import { formatDuration, formatUnit, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

export function TestResult({ tested }: { tested: NotificationTestBody }) {
  const { ok, status, response, error, duration_ms } = tested
  const time = duration_ms < 1_000 ? formatUnit('millisecond', duration_ms) : formatDuration(duration_ms)
  // Most errors contain what the service responded.
  const isShown = response !== null && response.trim() !== '' && error?.includes(response.trim()) !== true
  return (
    <>
      <p>
        <span className="tag" data-tone={ok ? 'good' : 'bad'}>
          {t(ok ? 'notifications.test.accepted' : 'notifications.test.failed')}
        </span>{' '}
        {ok ? t('notifications.test.acceptedNext') : <bdi>{plainText(error ?? '')}</bdi>}
      </p>
      <p>
        {status === null
          ? t('notifications.test.noResponse', { time })
          : t('notifications.test.status', { status, time })}
      </p>
      {isShown ? (
        <>
          <p>{t('notifications.test.response')}</p>
          <pre className="response">{plainLines(response)}</pre>
        </>
      ) : null}
    </>
  )
}

/** Like `plainText`, but keeps line breaks. */
function plainLines(text: string): string {
  return text.split(/\r?\n/).map(plainText).join('\n')
}
