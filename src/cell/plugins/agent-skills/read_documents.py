# The skills that read documents. Those of offices are archives of XML, which Python reads by itself.
_word = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
_drawing = '{http://schemas.openxmlformats.org/drawingml/2006/main}'
_relation = '{http://schemas.openxmlformats.org/officeDocument/2006/relationships}'
_slide = '{http://schemas.openxmlformats.org/presentationml/2006/main}'


def _library(skill, package, *modules):
    for module in modules:
        try:
            return __import__(module, fromlist=['*'])
        except ImportError:
            pass
    raise _Refused('%s needs the package %s, which is not installed here. Install it with: %s -m pip install %s'
                   % (skill, package, sys.executable, package))


def _converted(kind, path):
    try:
        return _readers[kind](path).strip()
    except (_Refused, OSError):
        raise
    except Exception as error:
        raise _Refused('%s cannot be read as a %s file: %s' % (path, kind, error))


def _document(kind, path):
    found = _existing(path)
    return '[Reading %s file from %s]\n%s' % (kind, found, _converted(kind, found))


def _pages(word, texts):
    return '\n\n'.join('@@ %s %d @@\n%s' % (word, number, text.strip()) for number, text in enumerate(texts, 1))


def _pdf_text(path):
    reader = _library('parse_pdf', 'pypdf', 'pypdf', 'PyPDF2').PdfReader(path)
    return _pages('Page', [page.extract_text() for page in reader.pages])


_marks = {_word + 'tab': '\t', _word + 'br': '\n', _word + 'cr': '\n', _drawing + 'br': '\n'}


def _text(nodes):
    return ''.join((node.text or '') if node.tag in (_word + 't', _drawing + 't') else _marks.get(node.tag, '')
                   for node in nodes)


def _blocks(body):
    for block in body:
        if block.tag == _word + 'p':
            yield ''.join(_text(run) for run in block.iter(_word + 'r'))
        elif block.tag == _word + 'tbl':
            for row in block.iter(_word + 'tr'):
                yield '\t'.join('\n'.join(_blocks(cell)) for cell in row.findall(_word + 'tc'))
        elif block.tag == _word + 'sdt':
            for content in block.findall(_word + 'sdtContent'):
                yield from _blocks(content)


def _docx_text(path):
    with zipfile.ZipFile(path) as archive:
        body = ElementTree.fromstring(archive.read('word/document.xml')).find(_word + 'body')
    return '\n'.join(_blocks(body))


def _pptx_text(path):
    with zipfile.ZipFile(path) as archive:
        part = lambda name: ElementTree.fromstring(archive.read(name))
        targets = {link.get('Id'): link.get('Target') for link in part('ppt/_rels/presentation.xml.rels')}
        # Slides come in the order of the presentation, not of their names.
        names = [targets[slide.get(_relation + 'id')] for slide in part('ppt/presentation.xml').iter(_slide + 'sldId')]
        slides = [part(name.lstrip('/') if name.startswith('/') else 'ppt/' + name) for name in names]
    return _pages('Slide', ['\n'.join(_text(line.iter()) for line in slide.iter(_drawing + 'p'))
                            for slide in slides])


def _latex_text(path):
    converter = _library('parse_latex', 'pylatexenc', 'pylatexenc.latex2text').LatexNodes2Text()
    return converter.latex_to_text('\n'.join(_lines(path)))


_readers = {'PDF': _pdf_text, 'DOCX': _docx_text, 'PowerPoint': _pptx_text, 'LaTeX': _latex_text}


@_skill
def parse_pdf(file_path: str):
    """Gives the text of a PDF file, page by page.

    Args:
        file_path: the file
    """
    return _document('PDF', file_path)


@_skill
def parse_docx(file_path: str):
    """Gives the text of a Word document (.docx).

    Args:
        file_path: the file
    """
    return _document('DOCX', file_path)


@_skill
def parse_latex(file_path: str):
    """Gives the text of a LaTeX file without its commands.

    Args:
        file_path: the file
    """
    return _document('LaTeX', file_path)


@_skill
def parse_pptx(file_path: str):
    """Gives the text of a presentation (.pptx), slide by slide.

    Args:
        file_path: the file
    """
    return _document('PowerPoint', file_path)
