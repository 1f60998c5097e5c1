import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import type { ModelStatusBody, ReceiverWithSources } from '../../src/contract/receivers.ts'
import { confirmationUrl, createConfirmation } from '../../src/domain/equipment/confirmation.ts'
import { useWatchState } from '../app/context.ts'
import { formatDate, formatList } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'
import { Pairs } from '../parts/pairs.tsx'

const ConfirmationDialog = onDemand(async () => (await import('./confirmation-dialog.tsx')).ConfirmationDialog)

interface ModelStatusProps {
  readonly receiver: ReceiverWithSources
  readonly status: ModelStatusBody
}

/** How far the model has been verified, with the form to confirm it. */
export function ModelStatus({ receiver, status }: ModelStatusProps) {
  const mayConfirm = useMay('read')
  const projectUrl = useWatchState(({ health }) => health?.project_url ?? null)
  const version = useWatchState(({ health }) => health?.version ?? __MICWATCH_VERSION__)
  const [isOpen, setOpen] = useState(false)
  const confirmation = createConfirmation(receiver, version)
  return (
    <>
      <Pairs
        pairs={[
          { name: t('receiver.verified.label'), value: statusText(status) },
          { name: t('receiver.verified.values'), value: formatList(status.values) },
        ]}
      />
      {!mayConfirm ? null : projectUrl === null ? (
        <button type="button" className="choice" onClick={() => setOpen(true)}>
          {t('receiver.verified.confirm')}
        </button>
      ) : (
        // In a new tab, so that monitoring continues.
        <a className="choice" href={confirmationUrl(projectUrl, confirmation)} target="_blank" rel="noreferrer">
          <ExternalLink className="icon" aria-hidden="true" />
          {t('receiver.verified.confirm')}
          <span className="visually-hidden"> {t('receiver.verified.newTab')}</span>
        </a>
      )}
      {isOpen ? <ConfirmationDialog confirmation={confirmation} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

function statusText({ status, model, firmware, date }: ModelStatusBody): string {
  const day = formatDate(date)
  if (status === 'documents') return t('receiver.verified.documents')
  const name = firmware === null ? model : t('receiver.verified.firmware', { model, firmware })
  return status === 'capture'
    ? t('receiver.verified.capture', { name })
    : t('receiver.verified.user', { name, date: day })
}
