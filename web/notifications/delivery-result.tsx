import type { NotificationDeliveryBody } from '../../src/contract/notifications.ts'
import { formatTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Ago } from '../parts/age.tsx'

const tones = { pending: 'waiting', sent: 'good', failed: 'bad', expired: 'bad' } as const

interface DeliveryResultProps {
  readonly delivery: NotificationDeliveryBody
  /** Says that it was a test. */
  readonly isTypeShown?: boolean
}

export function DeliveryResult({ delivery, isTypeShown = false }: DeliveryResultProps) {
  const { status, type, attempts, last_error, last_attempt_at, sent_at, created_at } = delivery
  const isRetried = status === 'pending' && attempts > 0
  return (
    <span className="stacked">
      <span>
        <span className="tag" data-tone={tones[status]}>
          {t(`notifications.statuses.${isRetried ? 'retrying' : status}`)}
        </span>{' '}
        {isTypeShown && type === 'test' ? `${t('notifications.types.test')} ` : null}
        <Ago at={sent_at ?? last_attempt_at ?? created_at} />
      </span>
      {status === 'sent' || last_error === null ? null : (
        <small>
          <bdi>{plainText(last_error)}</bdi>
        </small>
      )}
      <Attempts delivery={delivery} />
    </span>
  )
}

function Attempts({ delivery: { status, attempts, next_attempt_at } }: DeliveryResultProps) {
  const texts = [
    status === 'expired' ? t('notifications.expired') : null,
    attempts > 1 ? t('notifications.attempts', { count: attempts }) : null,
    status === 'pending' && next_attempt_at !== null
      ? t('notifications.nextAttempt', { time: formatTime(Date.parse(next_attempt_at)) })
      : null,
  ].filter((text) => text !== null)
  return texts.length === 0 ? null : <small>{texts.join(' ')}</small>
}
