source("https://study.example/static/clients/similitude.R")
study <- similitude_study("https://study.example/s/faces/", token = Sys.getenv("SIMILITUDE_TOKEN"))
question <- similitude_ask(study, "P07", consent = TRUE)
while (!is.null(question)) {
  response <- your_display(question$items)
  question <- similitude_tell(study, question, response)
}
similitude_finish(study, "P07")
model <- similitude_model(study)
plot(hclust(model$distances))
answers <- similitude_answers(study)
