// What is pasted elsewhere to show a snapshot: one row a kind of place, for the page and for docs/embedding.md.

import type { Lang, Theme } from './state'

/** A snapshot, and how it opens. */
export interface Shared {
  /** The server's address, without a slash at its end. */
  host: string
  id: string
  step: number
  lang: Lang
  theme: Theme
}

const TITLES: Readonly<Record<Lang, string>> = { en: 'Computation graph', zh: '计算图' }
const FRAME = 'width="100%" height="460" style="border:0"'
const FITS = 'width=\\linewidth,height=.8\\textheight,keepaspectratio'

/** From a snapshot to the text for a kind of place. Nothing of the program stands in it: nothing has to be escaped. */
export const SNIPPETS = {
  link: ({ host, id }: Shared) => `${host}/s/${id}`,
  element: (of: Shared) => `<script defer src="${of.host}/embed.js"></script>\n${element(of)}`,
  frame: (of: Shared) =>
    `<iframe src="${of.host}/embed/${of.id}?${query(of)}" title="${TITLES[of.lang]}" ${FRAME} loading="lazy" ` +
    'sandbox="allow-scripts allow-popups"></iframe>',
  markdown: (of: Shared) => `[![${TITLES[of.lang]}](${of.host}/s/${of.id}.svg)](${SNIPPETS.link(of)})`,
  sphinx: (of: Shared) => `\`\`\`{gradgraph} ${SNIPPETS.link(of)}\n:step: ${of.step}\n\`\`\``,
  jekyll: (of: Shared) => `<div>\n${SNIPPETS.element(of)}\n</div>`,
  latex: (of: Shared) =>
    `% curl -o ${of.id}.pdf '${of.host}/s/${of.id}.pdf?theme=light'\n% \\usepackage{graphicx,hyperref}\n` +
    `\\noindent\\href{${SNIPPETS.link(of)}}{\\includegraphics[${FITS}]{${of.id}.pdf}}`,
  file: (of: Shared) =>
    `<iframe src="${of.id}.html?${query(of)}" title="${TITLES[of.lang]}" ${FRAME} sandbox="allow-scripts"></iframe>`,
} as const

export type Place = Exclude<keyof typeof SNIPPETS, 'link'>
/** Places that a snapshot is pasted into, the commonest first. */
export const PLACES = Object.keys(SNIPPETS).filter((name) => name !== 'link') as readonly Place[]

/** In the page's own colours; what stands inside is for paper and feeds. */
function element({ host, id, step, lang }: Shared): string {
  return (
    `<gradgraph-embed snapshot="${id}" step="${step}" lang="${lang}">\n` +
    `  <a href="${host}/s/${id}"><img loading="lazy" src="${host}/s/${id}.svg?theme=light" ` +
    `alt="${TITLES[lang]}"></a>\n` +
    '</gradgraph-embed>'
  )
}

function query({ step, lang, theme }: Shared): string {
  return `step=${step}&amp;lang=${lang}${theme === 'auto' ? '' : `&amp;theme=${theme}`}`
}
