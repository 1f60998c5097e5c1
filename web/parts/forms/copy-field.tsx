import { useRef, useState } from 'react'
import { t } from '../../app/i18n.ts'

export function CopyField({ label, text }: { label: string; text: string }) {
  const field = useRef<HTMLInputElement>(null)
  const [result, setResult] = useState<'done' | 'byHand' | null>(null)
  const copy = async () => {
    field.current?.select()
    setResult((await copyText(text)) ? 'done' : 'byHand')
  }
  return (
    <div className="copy">
      <span className="input-row">
        <input
          className="input"
          ref={field}
          readOnly={true}
          value={text}
          aria-label={label}
          spellCheck={false}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" className="choice" onClick={copy}>
          {t('parts.copy.copy')}
          <span className="visually-hidden"> {label}</span>
        </button>
      </span>
      <span className="hint" role="status">
        {result === null ? null : t(`parts.copy.${result}`)}
      </span>
    </div>
  )
}

/** The clipboard API needs a secure context. The deprecated command works without one. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return document.execCommand('copy')
  }
}
