import { useRef, useState } from 'react'
import { type Confirmation, confirmationText } from '../../src/domain/equipment/confirmation.ts'
import { t } from '../app/i18n.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { copyText } from '../parts/forms/copy-field.tsx'

interface ConfirmationDialogProps {
  readonly confirmation: Confirmation
  onClose(): void
}

/** The filled-in form as text, for a build that names no project. */
export function ConfirmationDialog({ confirmation, onClose }: ConfirmationDialogProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [result, setResult] = useState<'done' | 'byHand' | null>(null)
  const [text, setText] = useState(() => confirmationText(confirmation))
  const copy = async () => {
    field.current?.select()
    setResult((await copyText(text)) ? 'done' : 'byHand')
  }
  return (
    <Dialog title={t('receiver.verified.confirm')} onClose={onClose}>
      <p className="dialog-text">{t('receiver.verified.what')}</p>
      <textarea
        className="input"
        ref={field}
        rows={16}
        value={text}
        aria-label={t('receiver.verified.text')}
        spellCheck={false}
        lang="en"
        onChange={({ target }) => setText(target.value)}
      />
      <p className="hint" role="status">
        {result === null ? null : t(`parts.copy.${result}`)}
      </p>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onClose}>
          {t('live.keys.closeButton')}
        </button>
        <button type="button" className="choice" data-tone="usual" onClick={() => void copy()}>
          {t('parts.copy.copy')}
        </button>
      </div>
    </Dialog>
  )
}
